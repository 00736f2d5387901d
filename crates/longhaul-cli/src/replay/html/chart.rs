//! Pictures of a session: how large the view is, and what has been paid, request by request.

use std::fmt::Write;

use longhaul_core::money::Usd;
use longhaul_core::replay::{ActionReason, ReplayedPolicy, RunAction, RunActionKind};

use crate::replay::json::reason_name;
use crate::terminal::{dollars, grouped, short};

/// The size of a picture, in its own units: about the pixels of a phone, so that text keeps its size there.
const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 200.0;
/// The room for labels at the left and at the bottom, and a little at the other sides.
const LEFT: f64 = 44.0;
const BOTTOM: f64 = 18.0;
const EDGE: f64 = 8.0;
/// The most points of a line: more would not be seen.
const POINTS: usize = 240;
/// The most marks of a line.
const MARKS: usize = 200;

/// What a picture shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChartKind {
    /// The tokens that each request sends.
    Window,
    /// The money since the beginning.
    Money,
}

/// One policy in a picture.
pub(super) struct ChartLine<'a> {
    pub(super) name: &'static str,
    pub(super) class: &'static str,
    pub(super) policy: &'a ReplayedPolicy,
}

/// A bar whose length is an amount.
pub(super) fn bar(class: &str, cost: Usd, most: Usd) -> String {
    let share = match most.to_f64() {
        most if most > 0.0 => 100.0 * cost.to_f64() / most,
        _ => 0.0,
    };
    format!(
        "<svg class=\"{class}\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\
         <rect x=\"0\" y=\"1\" width=\"{share:.1}\" height=\"8\"/></svg>"
    )
}

/// Where values are in a picture.
struct ChartScale {
    kind: ChartKind,
    requests: usize,
    most: f64,
}

impl ChartScale {
    fn of(lines: &[ChartLine<'_>], kind: ChartKind) -> Self {
        let values = lines
            .iter()
            .flat_map(|line| line.policy.steps.iter().map(|step| value(kind, *step)));
        let steps = lines.iter().map(|line| line.policy.steps.len());
        Self {
            kind,
            requests: steps.max().unwrap_or(0),
            most: rounded_up(values.fold(0.0, f64::max)),
        }
    }

    fn x(&self, request: usize) -> f64 {
        let whole = self.requests.saturating_sub(1).max(1) as f64;
        LEFT + (WIDTH - LEFT - EDGE) * request as f64 / whole
    }

    fn y(&self, value: f64) -> f64 {
        EDGE + (HEIGHT - EDGE - BOTTOM) * (1.0 - value / self.most)
    }

    fn label(&self, value: f64) -> String {
        match self.kind {
            ChartKind::Window => short(value as u64),
            ChartKind::Money => dollars(value),
        }
    }
}

fn value(kind: ChartKind, step: (u64, Usd)) -> f64 {
    match kind {
        ChartKind::Window => step.0 as f64,
        ChartKind::Money => step.1.to_f64(),
    }
}

/// The next number that is easily divided by four, so that the lines of the grid have short labels.
fn rounded_up(value: f64) -> f64 {
    if value <= 0.0 {
        return 1.0;
    }
    let power = 10_f64.powf(value.log10().floor());
    let steps = [1.0, 1.2, 1.6, 2.0, 2.4, 3.2, 4.0, 6.0, 8.0, 10.0];
    let step = steps.into_iter().find(|step| step * power >= value);
    step.unwrap_or(10.0) * power
}

/// Draws the lines of all policies, with a mark for each thing that was done.
pub(super) fn chart(lines: &[ChartLine<'_>], kind: ChartKind) -> String {
    let scale = ChartScale::of(lines, kind);
    let title = match kind {
        ChartKind::Window => "Tokens sent with each request",
        ChartKind::Money => "Money since the beginning",
    };
    let mut svg = format!(
        "<figure><figcaption>{title}</figcaption>\n<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\">\n"
    );
    grid(&mut svg, &scale);
    for line in lines {
        path(&mut svg, line, &scale);
    }
    for line in lines {
        marks(&mut svg, line, &scale);
    }
    svg.push_str("</svg></figure>\n");
    svg
}

fn grid(svg: &mut String, scale: &ChartScale) {
    for part in 0..=4_u8 {
        let value = scale.most * f64::from(part) / 4.0;
        let y = scale.y(value);
        // Writing to a string cannot fail.
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - EDGE,
            LEFT - 4.0,
            y + 3.5,
            scale.label(value),
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{LEFT}\" y=\"{y:.1}\">1</text><text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"end\">request {last}</text>",
        x = WIDTH - EDGE,
        y = HEIGHT - 4.0,
        last = grouped(scale.requests as u64),
    );
}

fn path(svg: &mut String, line: &ChartLine<'_>, scale: &ChartScale) {
    let steps = &line.policy.steps;
    let every = steps.len().div_ceil(POINTS).max(1);
    let _ = write!(svg, "<polyline class=\"{}\" points=\"", line.class);
    for (request, step) in steps.iter().enumerate() {
        if request % every == 0 || request + 1 == steps.len() {
            let (x, y) = (scale.x(request), scale.y(value(scale.kind, *step)));
            let _ = write!(svg, "{x:.1},{y:.1} ");
        }
    }
    let _ = writeln!(svg, "\"><title>{}</title></polyline>", line.name);
}

fn marks(svg: &mut String, line: &ChartLine<'_>, scale: &ChartScale) {
    for action in line.policy.actions.iter().take(MARKS) {
        let Some(step) = line.policy.steps.get(action.request) else {
            continue;
        };
        let (x, y) = (scale.x(action.request), scale.y(value(scale.kind, *step)));
        let class = line.class;
        let shape = match action.kind {
            RunActionKind::Clear => {
                format!("<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\">")
            }
            RunActionKind::Summarize => format!(
                "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"6\" height=\"6\">",
                x - 3.0,
                y - 3.0
            ),
        };
        let end = match action.kind {
            RunActionKind::Clear => "</circle>",
            RunActionKind::Summarize => "</rect>",
        };
        let _ = writeln!(svg, "{shape}<title>{}</title>{end}", describe(line, action));
    }
}

fn describe(line: &ChartLine<'_>, action: &RunAction) -> String {
    let what = match action.kind {
        RunActionKind::Clear => "cleared",
        RunActionKind::Summarize => "summarized",
    };
    let mut text = format!(
        "{}: {what} before request {}, {} tokens freed ({})",
        line.name,
        grouped(action.request as u64 + 1),
        short(action.freed),
        reason_name(action.reason),
    );
    if action.reason == ActionReason::Price {
        let _ = write!(text, ", price {}, rent {}", action.price, action.rent);
        if action.waived > Usd::ZERO {
            let _ = write!(text, ", waived {}", action.waived);
        }
    }
    text
}
