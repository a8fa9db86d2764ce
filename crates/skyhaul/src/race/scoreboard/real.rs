//! Everything in real time: one run after the other, as `race` does it.

use skyhaul_sim::sweep::RunId;

use super::board::Board;
use super::measured::transfer;
use crate::failure::Failure;
use crate::race::live;
use crate::race::progress::Progress;
use crate::race::tell;
use crate::signals::stop_requested;
use crate::sweep::Kept;

/// Ends early, with what there is, when the user asks for it.
pub(super) async fn run(
    board: Board,
    mut kept: Kept,
    todo: &[RunId],
    progress: &Progress,
) -> Result<(Board, Kept), Failure> {
    let mut warnings = Vec::new();
    let all = async {
        for &id in todo {
            let (trial, contestant) = board.at(id);
            let seed = board.header.seed_of(id);
            progress.tell(&format!("{}: {} with seed {seed}", trial.case.name, contestant.name));
            let who = (contestant.racer, seed);
            let run = live::run(&trial.plan, &trial.args, who, &mut warnings).await?;
            kept.add(vec![transfer(&board.header, id, &run)])?;
            progress.advance();
        }
        Ok(())
    };
    let result = tokio::select! {
        result = all => result,
        () = stop_requested() => Ok(()),
    };
    tell(&warnings);
    result.map(|()| (board, kept))
}
