-- The same departures, but an hour is declared complete two hours later: too early for most rows.
-- The summary at the end says how many came too late, and which delay would have kept them.

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
  -- Too impatient: rows are up to 18 hours out of order.
  WATERMARK FOR time_hour AS time_hour - INTERVAL '2' HOUR
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
