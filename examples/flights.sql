-- One week of real departures from New York (January 2013), out of order by up to 18 hours.
-- How many flights left each airport in each hour, and how late were they?

CREATE TABLE flights (
  time_hour TIMESTAMP(3),   -- the scheduled hour of departure: the event time
  carrier   STRING,
  flight    INT,
  tailnum   STRING,
  origin    STRING,
  dest      STRING,
  dep_delay INT,            -- minutes; NULL when the flight was cancelled
  arr_delay INT,
  air_time  INT,
  distance  INT,
  -- An hour is complete when a row arrives that is a day ahead of it.
  WATERMARK FOR time_hour AS time_hour - INTERVAL '1' DAY
) WITH (
  'connector' = 'filesystem',
  'path' = 'examples/flights_week1.csv',
  'format' = 'csv',
  'csv.header' = 'true',
  'csv.null-literal' = 'NA'
);

SELECT window_start, origin, COUNT(*) AS departures, SUM(dep_delay) AS minutes_late
FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(time_hour), INTERVAL '1' HOUR))
GROUP BY window_start, window_end, origin;
