-- Who saw the offer and bought within an hour? Counted by the hour of the purchase.
-- ann saw it at 3:55 and bought at 4:02: the pair crosses the hour, and the purchase was delivered first.

CREATE TABLE clicks (
  ts      TIMESTAMP(3),
  visitor STRING,
  page    STRING,
  WATERMARK FOR ts AS ts - INTERVAL '15' MINUTE
) WITH (
  'connector' = 'filesystem',
  'path' = 'examples/clicks.csv',
  'format' = 'csv'
);

CREATE VIEW conversions AS
SELECT visitor, offered, bought, at
FROM clicks MATCH_RECOGNIZE (
  PARTITION BY visitor
  ORDER BY ts
  MEASURES A.ts AS offered, B.ts AS bought, MATCH_ROWTIME() AS at
  ONE ROW PER MATCH
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A X*? B) WITHIN INTERVAL '1' HOUR
  DEFINE A AS page = 'offer', B AS page = 'buy'
) AS m;

SELECT window_start, COUNT(*) AS conversions
FROM TABLE(TUMBLE(TABLE conversions, DESCRIPTOR(at), INTERVAL '1' HOUR))
GROUP BY window_start, window_end;
