//! Steps tasks on a few threads.
//!
//! Each thread has its own tasks, steps them in turn, and sleeps when none can do anything: a push into an empty
//! channel, room in a full one, a reader's waker or a timer wakes it.
//!
//! **Invariant:** the first error cancels the whole job; a cancelled job stops within one step of each thread.

pub mod simulation;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::error::RuntimeError;
use crate::exchange::wake_up::WakeUp;
use crate::task::chain::panic_message;
use crate::task::{Step, Task, sooner};

/// What the threads of a job share: whether to go on, and how it ended.
pub struct Control {
    is_cancelled: AtomicBool,
    was_interrupted: AtomicBool,
    error: Mutex<Option<RuntimeError>>,
    running: AtomicUsize,
    /// One a thread.
    wake_ups: Vec<Arc<WakeUp>>,
    /// That of the thread with the task that may wait for a disk.
    background: Arc<WakeUp>,
}

impl Control {
    /// For a job of so many threads.
    pub fn new(threads: usize) -> Self {
        Self {
            is_cancelled: AtomicBool::new(false),
            was_interrupted: AtomicBool::new(false),
            error: Mutex::new(None),
            running: AtomicUsize::new(threads),
            wake_ups: (0..threads).map(|_| Arc::default()).collect(),
            background: Arc::default(),
        }
    }

    /// What the thread that steps task number `task` sleeps on.
    pub fn wake_up_of(&self, task: usize) -> &Arc<WakeUp> {
        &self.wake_ups[task % self.wake_ups.len()]
    }

    /// What the thread of the background task sleeps on.
    pub fn background_wake_up(&self) -> &Arc<WakeUp> {
        &self.background
    }

    /// Wakes every thread.
    pub fn wake_all(&self) {
        self.wake_ups.iter().for_each(|w| w.bump());
        self.background.bump();
    }

    /// Tells every thread to stop.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::SeqCst);
        self.wake_all();
    }

    /// Has every thread stopped?
    pub fn is_finished(&self) -> bool {
        self.running.load(Ordering::SeqCst) == 0
    }

    /// How the job ended; to be asked when every thread has stopped.
    pub fn outcome(&self) -> Result<(), RuntimeError> {
        if let Some(error) = self.error.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(error);
        }
        match self.was_interrupted.load(Ordering::SeqCst) {
            true => Err(RuntimeError::Cancelled),
            false => Ok(()),
        }
    }

    fn fail(&self, error: RuntimeError) {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.cancel();
    }
}

/// Deep enough for the deepest expression that the planner lets through, which is evaluated and written level by level.
/// Memory that is not touched is not taken.
const STACK_BYTES: usize = 64 << 20;

/// Starts the threads of `control` over `tasks`: task number `i` runs on thread `i` modulo their number. `background`,
/// which may wait for a disk, has one of its own.
pub fn spawn(
    tasks: Vec<Box<dyn Task>>,
    background: Option<Box<dyn Task>>,
    control: &Arc<Control>,
) -> std::io::Result<Vec<JoinHandle<()>>> {
    let mut of_thread: Vec<Vec<Box<dyn Task>>> = control.wake_ups.iter().map(|_| vec![]).collect();
    let threads = of_thread.len();
    for (number, task) in tasks.into_iter().enumerate() {
        of_thread[number % threads].push(task);
    }
    let start = |name: String, tasks: Vec<Box<dyn Task>>, wake_up: &Arc<WakeUp>| {
        let (control, wake_up) = (Arc::clone(control), Arc::clone(wake_up));
        let run = move || run_thread(tasks, &wake_up, &control);
        std::thread::Builder::new().name(name).stack_size(STACK_BYTES).spawn(run)
    };
    // Before any thread can end: the job runs for as long as one does.
    control.running.fetch_add(background.iter().count(), Ordering::SeqCst);
    let of_thread = of_thread.into_iter().zip(&control.wake_ups).enumerate();
    let foreground = of_thread.map(|(thread, (tasks, wake_up))| start(format!("tidemark-{thread}"), tasks, wake_up));
    let background = background.map(|task| start("tidemark-checkpoints".into(), vec![task], &control.background));
    let started: std::io::Result<Vec<_>> = foreground.chain(background).collect();
    if started.is_err() {
        control.cancel();
    }
    started
}

fn run_thread(mut tasks: Vec<Box<dyn Task>>, wake_up: &WakeUp, control: &Control) {
    while !tasks.is_empty() {
        // Before any look at the job's state, so that whatever changes after it ends the sleep.
        let seen = wake_up.epoch();
        if control.is_cancelled.load(Ordering::SeqCst) {
            break;
        }
        match take_turn(&mut tasks, control) {
            Ok(Turn { progressed: true, .. }) => {}
            Ok(Turn { retry_after_ms, .. }) => wake_up.park(seen, retry_after_ms.map(Duration::from_millis)),
            Err(error) => control.fail(error),
        }
    }
    if !tasks.is_empty() {
        control.was_interrupted.store(true, Ordering::SeqCst);
    }
    control.running.fetch_sub(1, Ordering::SeqCst);
    // Dropped last: whoever sees a channel end because of it finds the job's state already told.
    drop(tasks);
}

/// What stepping each task once came to.
struct Turn {
    progressed: bool,
    retry_after_ms: Option<u64>,
}

fn take_turn(tasks: &mut Vec<Box<dyn Task>>, control: &Control) -> Result<Turn, RuntimeError> {
    let mut turn = Turn { progressed: false, retry_after_ms: None };
    let mut index = 0;
    while index < tasks.len() && !control.is_cancelled.load(Ordering::Relaxed) {
        match step(tasks[index].as_mut())? {
            Step::Progressed => turn.progressed = true,
            Step::Idle { retry_after_ms } => turn.retry_after_ms = sooner(turn.retry_after_ms, retry_after_ms),
            Step::Finished => {
                turn.progressed = true;
                tasks.remove(index);
                continue;
            }
        }
        index += 1;
    }
    Ok(turn)
}

/// One step; a panic becomes an error that names the task.
fn step(task: &mut dyn Task) -> Result<Step, RuntimeError> {
    // After a panic the job ends and nothing looks at the task again.
    catch_unwind(AssertUnwindSafe(|| task.step())).unwrap_or_else(|payload| {
        Err(RuntimeError::Panic(format!("{}: {}", task.name(), panic_message(payload.as_ref()))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts its steps; cancels the job in the last of a few.
    struct Cancelling {
        control: Arc<Control>,
        steps_left: usize,
        steps: Arc<AtomicUsize>,
    }

    impl Task for Cancelling {
        fn name(&self) -> &str {
            "cancelling"
        }

        fn step(&mut self) -> Result<Step, RuntimeError> {
            self.steps.fetch_add(1, Ordering::SeqCst);
            self.steps_left -= 1;
            if self.steps_left == 0 {
                self.control.cancel();
                return Ok(Step::Idle { retry_after_ms: None });
            }
            Ok(Step::Progressed)
        }
    }

    #[test]
    fn a_cancelled_job_steps_no_further_and_does_not_fall_asleep() {
        let control = Arc::new(Control::new(1));
        let steps: Arc<AtomicUsize> = Arc::default();
        let task = |steps_left| -> Box<dyn Task> {
            Box::new(Cancelling { control: Arc::clone(&control), steps_left, steps: Arc::clone(&steps) })
        };
        for thread in spawn(vec![task(3), task(100)], None, &control).unwrap() {
            thread.join().unwrap();
        }
        assert_eq!(steps.load(Ordering::SeqCst), 5, "the second task is not stepped after the first has cancelled");
        assert!(control.is_finished());
        assert!(matches!(control.outcome(), Err(RuntimeError::Cancelled)));
    }

    #[test]
    fn a_job_without_tasks_ends_well() {
        let control = Arc::new(Control::new(1));
        for thread in spawn(vec![], None, &control).unwrap() {
            thread.join().unwrap();
        }
        assert!(control.outcome().is_ok());
    }
}
