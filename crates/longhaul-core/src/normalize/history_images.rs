//! Counts the images of a whole history before it is rendered (API-FACTS 4.7): which of them are left out depends on how
//! many there are.

use super::images::{ImageCounter, MANY};
use super::options::RenderRules;
use super::step::{RenderStep, RenderStepKind};
use super::{attachment, block};
use crate::message::BlockKind;

impl ImageCounter {
    /// Counts the images of a history. Also returns the position up to which thinking can no longer be sent, because
    /// images before it were left out when one image there was too many.
    pub(super) fn over(
        most: usize,
        rules: &RenderRules,
        steps: &[RenderStep<'_>],
    ) -> (Self, Option<usize>) {
        let mut count = Self::default();
        let mut places = Vec::new();
        let mut first_large = None;
        for step in steps.iter().filter(|step| may_show(step)) {
            let large = count.large;
            match step.ask {
                RenderStepKind::Result(index) => {
                    drop(block::result(step.view, index, rules, &mut count))
                }
                RenderStepKind::Input(index) => {
                    drop(block::input(step.view, index, rules, &mut count))
                }
                RenderStepKind::Attachment if rules.clears(step.view) => {}
                RenderStepKind::Attachment => drop(attachment::render(step.view, &mut count)),
                RenderStepKind::Line => {}
            }
            places.resize(count.seen, step.at);
            if count.large > large {
                first_large = first_large.or(Some(count.seen - 1));
            }
        }
        let images = Self::expecting(most, count.seen);
        let step_taken = (images.left_out > 0).then(|| most + images.left_out - images.step());
        let became_many = first_large.filter(|first| *first < MANY).map(|_| MANY);
        let crossed = [step_taken, became_many].into_iter().flatten();
        let crossed = crossed.filter_map(|image| places.get(image).copied()).max();
        (images, crossed)
    }
}

/// Whether a step may hold an image at all.
fn may_show(step: &RenderStep<'_>) -> bool {
    let blocks = &step.view.facets.blocks;
    let is_image = |at: usize| {
        blocks
            .get(at)
            .is_some_and(|block| block.kind == BlockKind::Image)
    };
    match step.ask {
        RenderStepKind::Line => false,
        RenderStepKind::Attachment => true,
        RenderStepKind::Input(index) => is_image(index),
        RenderStepKind::Result(index) => blocks[index + 1..]
            .iter()
            .take_while(|block| block.inner)
            .any(|block| block.kind == BlockKind::Image),
    }
}
