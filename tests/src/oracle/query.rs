//! Random windowed aggregations, each as two texts: in Tidemark's dialect and in DataFusion's.

use super::chance::Chance;

/// One aggregation over the windows of `events`.
#[derive(Clone, Debug)]
pub struct Query {
    window: Window,
    filter: Option<&'static str>,
    keys: Vec<&'static str>,
    /// Indices into `keys`; no sets mean all keys.
    sets: Vec<Vec<usize>>,
    aggregates: Vec<Aggregate>,
    having: Option<&'static str>,
}

/// Windows; lengths in milliseconds.
#[derive(Clone, Copy, Debug)]
enum Window {
    Tumble { size: i64, offset: i64 },
    Hop { slide: i64, size: i64, offset: i64 },
    Cumulate { step: i64, size: i64, offset: i64 },
}

#[derive(Clone, Debug)]
struct Aggregate {
    /// In Tidemark, without a filter.
    stream: &'static str,
    /// In DataFusion, without a filter.
    batch: &'static str,
    filter: Option<&'static str>,
}

/// Calls that are spelled alike.
const SAME: [&str; 18] = [
    "COUNT(*)",
    "COUNT(v)",
    "COUNT(DISTINCT v)",
    "COUNT(DISTINCT s)",
    "SUM(v)",
    "SUM(n)",
    "SUM(DISTINCT v)",
    "SUM(x)",
    "SUM(d)",
    "MIN(v)",
    "MAX(x)",
    "MIN(s)",
    "MAX(s)",
    "MAX(d)",
    "MIN(ts)",
    "AVG(x)",
    "AVG(v)",
    "BOOL_OR(b)",
];

/// Calls whose result follows the order of arrival, which DataFusion must be told, and those of other names.
const DIFFERENT: [(&str, &str); 6] = [
    ("FIRST_VALUE(v)", "first_value(v ORDER BY v IS NULL, seq)"),
    ("LAST_VALUE(s)", "first_value(s ORDER BY s IS NULL, seq DESC)"),
    ("LISTAGG(s)", "string_agg(s, ',' ORDER BY seq)"),
    ("LISTAGG(k, '; ')", "string_agg(k, '; ' ORDER BY seq)"),
    ("COUNT(v + n)", "count(v + n)"),
    ("SUM(CASE WHEN b THEN v ELSE 1 END)", "sum(CASE WHEN b THEN v ELSE 1 END)"),
];

const CONDITIONS: [&str; 7] =
    ["v > 3", "k <> 'a'", "b", "s IS NOT NULL AND x < 10", "n = 1 OR v IS NULL", "d >= 0", "1 = 0"];
const KEYS: [&str; 4] = ["k", "n", "b", "d"];

impl Query {
    /// Any query.
    pub fn random(chance: &mut Chance) -> Self {
        let keys: Vec<_> = chance.some(&KEYS, 35).into_iter().take(2).collect();
        let sets = if keys.len() == 2 && chance.percent(30) {
            chance.pick(&[
                vec![vec![0], vec![1]],
                vec![vec![0, 1], vec![0], vec![]],
                vec![vec![0, 1], vec![0], vec![1], vec![]],
            ])
        } else {
            vec![]
        };
        let count = chance.between(1, 5);
        let filter = chance.percent(40).then(|| chance.pick(&CONDITIONS));
        Self {
            window: Window::random(chance),
            filter,
            keys,
            sets,
            aggregates: (0..count).map(|_| Aggregate::random(chance)).collect(),
            having: chance.percent(20).then(|| chance.pick(&["COUNT(*) > 2", "SUM(v) IS NOT NULL", "MAX(v) > MIN(v)"])),
        }
    }

    /// The query over the table `events` in Tidemark.
    pub fn stream(&self) -> String {
        let columns = self.columns("window_start AS w0, window_end AS w1", |a| a.text(a.stream));
        let source = format!("TABLE({})", self.window.call());
        self.text(&columns, &source, self.filter.map(str::to_string), "window_start, window_end")
    }

    /// The query over the table `events` in DataFusion; its windows are rows of `steps(step_index)`.
    pub fn batch(&self) -> String {
        let columns = self.columns("w0, w1", |a| a.text(a.batch));
        let source = format!("({}) AS windowed", self.window.rows());
        self.text(&columns, &source, self.filter.map(str::to_string), "w0, w1")
    }

    /// How many windows a row can belong to.
    pub fn most_windows(&self) -> i64 {
        match self.window {
            Window::Tumble { .. } => 1,
            Window::Hop { slide: step, size, .. } | Window::Cumulate { step, size, .. } => size / step,
        }
    }

    fn columns(&self, window: &str, aggregate: impl Fn(&Aggregate) -> String) -> String {
        let keys = self.keys.iter().map(|k| format!(", {k}"));
        let calls = self.aggregates.iter().enumerate().map(|(i, a)| format!(", {} AS a{i}", aggregate(a)));
        std::iter::once(window.to_string()).chain(keys).chain(calls).collect()
    }

    fn text(&self, columns: &str, source: &str, filter: Option<String>, window: &str) -> String {
        let filter = filter.map_or_else(String::new, |f| format!(" WHERE {f}"));
        let having = self.having.map_or_else(String::new, |h| format!(" HAVING {h}"));
        let list = |keys: &[&str]| keys.iter().fold(window.to_string(), |list, key| format!("{list}, {key}"));
        let group = if self.sets.is_empty() {
            list(&self.keys)
        } else {
            let set = |set: &Vec<usize>| format!("({})", list(&set.iter().map(|i| self.keys[*i]).collect::<Vec<_>>()));
            format!("GROUPING SETS ({})", self.sets.iter().map(set).collect::<Vec<_>>().join(", "))
        };
        format!("SELECT {columns} FROM {source}{filter} GROUP BY {group}{having}")
    }
}

impl Aggregate {
    fn random(chance: &mut Chance) -> Self {
        let filter = chance.percent(25).then(|| chance.pick(&CONDITIONS));
        if chance.percent(30) {
            let (stream, batch) = chance.pick(&DIFFERENT);
            return Self { stream, batch, filter };
        }
        let call = chance.pick(&SAME);
        Self { stream: call, batch: call, filter }
    }

    fn text(&self, call: &str) -> String {
        self.filter.map_or_else(|| call.to_string(), |f| format!("{call} FILTER (WHERE {f})"))
    }
}

impl Window {
    fn random(chance: &mut Chance) -> Self {
        let step = chance.pick(&[1, 250, 1_000, 7_000, 60_000]);
        let size = step * chance.pick(&[1, 2, 3, 8, 24]);
        let offset = if chance.percent(40) { chance.between(1 - size, size - 1) } else { 0 };
        match chance.between(0, 2) {
            0 => Window::Tumble { size, offset },
            1 => Window::Hop { slide: step, size, offset },
            _ => Window::Cumulate { step, size, offset },
        }
    }

    /// As a window function over `events`.
    fn call(self) -> String {
        let (name, lengths, offset) = match self {
            Window::Tumble { size, offset } => ("TUMBLE", vec![size], offset),
            Window::Hop { slide, size, offset } => ("HOP", vec![slide, size], offset),
            Window::Cumulate { step, size, offset } => ("CUMULATE", vec![step, size], offset),
        };
        let lengths =
            lengths.into_iter().chain((offset != 0).then_some(offset)).map(|ms| format!(", {}", interval(ms)));
        format!("{name}(TABLE events, DESCRIPTOR(ts){})", lengths.collect::<String>())
    }

    /// As a query that gives each event once a window it belongs to, with the bounds `w0` and `w1` in milliseconds.
    fn rows(self) -> String {
        let floor = |length: i64, offset: i64| format!("ms - (((ms - ({offset})) % {length}) + {length}) % {length}");
        match self {
            Window::Tumble { size, offset } => {
                let start = floor(size, offset);
                format!("SELECT *, {start} AS w0, {start} + {size} AS w1 FROM events")
            }
            Window::Hop { slide, size, offset } => {
                let start = format!("{} - step_index * {slide}", floor(slide, offset));
                format!("SELECT *, {start} AS w0, {start} + {size} AS w1 FROM events CROSS JOIN steps")
            }
            Window::Cumulate { step, size, offset } => {
                let start = floor(size, offset);
                let end = format!("{start} + (step_index + 1) * {step}");
                format!("SELECT *, {start} AS w0, {end} AS w1 FROM events CROSS JOIN steps WHERE {end} > ms")
            }
        }
    }
}

fn interval(ms: i64) -> String {
    let sign = if ms < 0 { "-" } else { "" };
    let ms = ms.abs();
    format!("INTERVAL '{sign}{}.{:03}' SECOND", ms / 1_000, ms % 1_000)
}
