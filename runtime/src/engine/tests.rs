mod checkpoints;
mod flights;
mod harness;
mod lifecycle;
mod watermarks;
