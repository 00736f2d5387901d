//! The live region: what is drawn again and again below the finished lines.
//!
//! From the bottom: status, prompt (or a question, or a list), queued prompts, current work, the todos, the running
//! calls, the tail of the reply. Whatever is nearer to the bottom gets its space first, so any height works.

use std::time::{Duration, Instant};

use longhaul_core::engine::CompactionPhase;
use ratatui::text::{Line, Span};

use super::app::{ActiveCompaction, App, Dialog, RunningCall, prompt_width};
use super::figures::{elapsed, grouped};
use super::flow::{WrappedLine, rows};
use super::status;
use super::style::{BOLD, CHOSEN, DIM, GOOD, WARNING, dim, styled};
use super::text::{clean_line, columns, count, keep_end, keep_start};
use crate::event::{RunningHook, TodoItem, TodoStatus};
use crate::retry_words;

/// The maximum number of rows of a list.
const LIST: usize = 14;
/// The maximum number of calls that are shown.
const CALLS: usize = 5;
/// The maximum number of todos that are shown.
const TODOS: usize = 8;
/// The maximum number of queued prompts that are shown.
const QUEUE: usize = 3;
/// The rows that a question has before queued prompts get any: its choices, and what they are about.
const QUESTION: usize = 9;
/// How often the activity indicator turns, in milliseconds.
const TURN: u128 = 120;
/// For how long nothing comes of a reply before that is said.
const LONG_SILENCE: Duration = Duration::from_secs(20);

/// The region, and where the cursor is in it.
#[derive(Debug, Default)]
pub(crate) struct LiveRegion {
    pub(crate) rows: Vec<Line<'static>>,
    pub(crate) cursor: Option<(usize, usize)>,
}

/// The region at a size.
pub(crate) fn region(app: &App, width: usize, height: usize, now: Instant) -> LiveRegion {
    let mut room = height.saturating_sub(1).max(1);
    // The choices of a question matter more than the status.
    let needed = if app.questions.is_empty() { 3 } else { 6 };
    let below = if room >= needed {
        below(app, width)
    } else {
        Vec::new()
    };
    room -= below.len();
    // What was sent while a question is open would seem to be lost if a long question left no room for it.
    let queue = queue(app, width);
    let is_kept = !app.questions.is_empty() && room >= QUESTION + queue.len();
    let kept = if is_kept { queue.len() } else { 0 };
    let (bottom, cursor) = bottom(app, width, room - kept);
    room = room.saturating_sub(bottom.len());
    let mut fit = |mut section: Vec<Line<'static>>| {
        section.drain(..section.len().saturating_sub(room));
        room -= section.len();
        section
    };
    // A question takes the place of the current work: nothing else happens before it is answered.
    let work = if app.questions.is_empty() {
        fit(work(app, width, now))
    } else {
        Vec::new()
    };
    let queue = fit(queue);
    let calls = fit(calls(app, width, now));
    let todos = fit(todos(&app.todos, width));
    let thinking = fit(thinking(app, width));
    // An empty row separates the prompt from the messages, if there is space for it.
    let gap = fit(match height {
        0..8 => Vec::new(),
        _ => vec![Line::default()],
    });
    let tail = fit(rows(&app.stream.tail(height), width));
    // An empty row separates what still changes from what is finished.
    let moves = [&tail, &thinking, &calls, &todos]
        .iter()
        .any(|section| !section.is_empty());
    let top = fit(if moves {
        vec![Line::default()]
    } else {
        Vec::new()
    });
    let sections = [top, tail, thinking, calls, todos, gap, work, queue];
    let mut all: Vec<Line<'static>> = sections.into_iter().flatten().collect();
    let cursor = cursor.map(|(row, column)| (row + all.len(), column.min(width.saturating_sub(1))));
    all.extend(bottom);
    all.extend(below);
    LiveRegion { rows: all, cursor }
}

/// The status line, or a hint in its place.
fn below(app: &App, width: usize) -> Vec<Line<'static>> {
    vec![match &app.hint {
        Some(hint) => Line::from(styled(keep_start(&format!("  {hint}"), width), WARNING)),
        None => status::line(app.glance.as_ref(), app.mode, width),
    }]
}

type RegionPart = (Vec<Line<'static>>, Option<(usize, usize)>);

fn bottom(app: &App, width: usize, room: usize) -> RegionPart {
    if let Some(asking) = app.questions.front() {
        if app.editor.is_empty() || asking.is_in_words() || room < 6 {
            return asking.rows(width, room);
        }
        // What was typed when the question appeared is not lost: it stands below the answers.
        let (mut lines, _) = asking.rows(width, room - 1);
        let text = keep_end(&clean_line(&app.editor.whole()), prompt_width(width));
        let cursor = (lines.len(), columns(&text) + 2);
        let left = width.saturating_sub(cursor.1 + 1);
        let about = keep_start("  (enter sends this; a number answers)", left);
        lines.push(Line::from(vec![
            styled("> ", BOLD),
            Span::raw(text),
            dim(about),
        ]));
        return (lines, Some(cursor));
    }
    let list = room.min(LIST);
    match &app.dialog {
        Some(Dialog::Resume(picker) | Dialog::Model(picker) | Dialog::History(picker)) => {
            (picker.rows(width, list), None)
        }
        Some(Dialog::Rewind(picker)) => (picker.rows(width, list), None),
        Some(Dialog::Back(picker)) => (picker.rows(width, list), None),
        None => prompt(app, width, room),
    }
}

fn prompt(app: &App, width: usize, room: usize) -> RegionPart {
    let layout = app.editor.layout(prompt_width(width));
    let most = (room * 2 / 3).max(1);
    let from = (layout.row + 1).saturating_sub(most);
    let mut lines = Vec::new();
    for (at, row) in layout.rows.iter().enumerate().skip(from).take(most) {
        let mark = if at == 0 {
            styled("> ", BOLD)
        } else {
            Span::raw("  ")
        };
        lines.push(Line::from(vec![mark, Span::raw(row.clone())]));
    }
    if app.editor.is_empty() && app.work.is_none() {
        let hint = keep_start("what should be done?", width.saturating_sub(3));
        lines[0].spans.push(dim(hint));
    }
    let cursor = (layout.row - from, layout.column + 2);
    if let Some(found) = &app.completion {
        let room = room.saturating_sub(lines.len());
        let first = (found.chosen + 1).saturating_sub(room);
        let widest = found
            .options
            .iter()
            .map(|option| columns(&option.0))
            .max()
            .unwrap_or(0);
        for (at, (text, about)) in found.options.iter().enumerate().skip(first).take(room) {
            let (mark, style) = if at == found.chosen {
                ("› ", CHOSEN)
            } else {
                ("  ", DIM)
            };
            let pad = " ".repeat(widest - columns(text) + 2);
            let text = keep_start(&format!("{mark}{text}{pad}"), width);
            let left = width.saturating_sub(columns(&text));
            lines.push(Line::from(vec![
                styled(text, style),
                dim(keep_start(about, left)),
            ]));
        }
    }
    (lines, Some(cursor))
}

fn spinner(since: Instant, now: Instant) -> char {
    const SIGNS: [char; 8] = ['⠋', '⠙', '⠹', '⠸', '⠴', '⠦', '⠧', '⠇'];
    let turns = now.saturating_duration_since(since).as_millis() / TURN;
    SIGNS[(turns % SIGNS.len() as u128) as usize]
}

fn work(app: &App, width: usize, now: Instant) -> Vec<Line<'static>> {
    let line = match (app.compacting, app.work) {
        (Some(compacting), _) => compacting_line(compacting, now),
        _ if app.waiting_hook().is_some() => hook_line(app, now),
        (None, Some(work)) => {
            let sign = spinner(work.since, now);
            let time = elapsed(now.saturating_duration_since(work.since));
            if work.cancelled {
                format!("{sign} stopping")
            } else if let Some(retry) = app.retry.as_ref().filter(|it| !it.is_answering) {
                let left = retry.until.saturating_duration_since(now);
                let line = retry_words::line(&retry.wait, left);
                let waiting = keep_start(&format!("{sign} {line} · esc to stop"), width);
                return vec![Line::from(styled(waiting, WARNING))];
            } else if let Some(quiet) = silence(app, work.since, now) {
                let quiet = elapsed(quiet);
                format!("{sign} working {time} · nothing has come for {quiet} · esc to stop")
            } else {
                format!("{sign} working {time} · esc to stop")
            }
        }
        (None, None) => return Vec::new(),
    };
    vec![Line::from(styled(keep_start(&line, width), CHOSEN))]
}

/// The hooks that are waited for.
fn hook_line(app: &App, now: Instant) -> String {
    let Some((hook, since)) = app.waiting_hook() else {
        return String::new();
    };
    let time = elapsed(now.saturating_duration_since(*since));
    let ends = match app.work {
        Some(_) => "esc to stop",
        None => "esc skips it",
    };
    let words = clean_line(&hook.words());
    format!("{} {words} runs, {time} · {ends}", spinner(*since, now))
}

/// How long nothing has come of the reply that is waited for, if that is long.
fn silence(app: &App, since: Instant, now: Instant) -> Option<Duration> {
    let quiet = now.saturating_duration_since(app.heard.max(since));
    let is_waiting = app.running.is_empty() && app.questions.is_empty();
    (is_waiting && quiet >= LONG_SILENCE).then_some(quiet)
}

fn compacting_line(compacting: ActiveCompaction, now: Instant) -> String {
    let sign = spinner(compacting.since, now);
    let time = elapsed(now.saturating_duration_since(compacting.since));
    let phase = match compacting.phase {
        CompactionPhase::PreCompactHooks => "hooks".to_owned(),
        CompactionPhase::Compacting if compacting.characters > 0 => {
            format!(
                "{} characters of summary",
                grouped(compacting.characters as u64)
            )
        }
        CompactionPhase::Compacting => "reading the conversation".to_owned(),
        CompactionPhase::SessionStartHooks => "putting back what is needed".to_owned(),
        _ => "working".to_owned(),
    };
    format!("{sign} compacting {time} · {phase} · esc to cancel")
}

fn queue(app: &App, width: usize) -> Vec<Line<'static>> {
    let shown = app.queue.iter().take(QUEUE).map(|text| {
        let line = keep_start(&format!("  next: {}", clean_line(text)), width);
        Line::from(dim(line))
    });
    let mut lines: Vec<Line<'static>> = shown.collect();
    if app.queue.len() > QUEUE {
        lines.push(Line::from(dim(format!(
            "  and {} more",
            app.queue.len() - QUEUE
        ))));
    }
    lines
}

fn calls(app: &App, width: usize, now: Instant) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    // A call that waits for the user does not run yet.
    let is_asked = |call: &RunningCall| app.questions.iter().any(|it| it.is_about(&call.id));
    let running: Vec<&RunningCall> = app.running.iter().filter(|it| !is_asked(it)).collect();
    for call in running.iter().take(CALLS) {
        let time = now.saturating_duration_since(call.since);
        let head = WrappedLine::new(
            vec![
                styled(format!("{} ", spinner(call.since, now)), GOOD),
                styled(call.name.clone(), BOLD),
                Span::raw(format!(" {}", call.line)),
            ],
            2,
        );
        let mut row = head.rows(width).into_iter().next().unwrap_or_default();
        let time = format!(" {}", elapsed(time));
        let of_call = |hook: &RunningHook| hook.call.as_ref() == Some(&call.id);
        let hook = app.hooks.iter().find(|(hook, _)| of_call(hook));
        if hook.is_none() && row.width() + columns(&time) <= width {
            row.spans.push(dim(time));
        }
        lines.push(row);
        if let Some((hook, since)) = hook {
            let time = elapsed(now.saturating_duration_since(*since));
            let line = format!("    {} runs, {time}", clean_line(&hook.words()));
            lines.push(Line::from(dim(keep_start(&line, width))));
            continue;
        }
        let shown = call
            .progress
            .lines()
            .rev()
            .find(|line| !line.trim().is_empty());
        lines.extend(shown.map(|line| {
            let line = format!("    {}", line.trim_end());
            Line::from(dim(keep_start(&line, width)))
        }));
    }
    if running.len() > CALLS {
        let more = count(running.len() - CALLS, "more call");
        lines.push(Line::from(dim(format!("  {more}"))));
    }
    lines
}

fn thinking(app: &App, width: usize) -> Vec<Line<'static>> {
    let line = clean_line(&app.thinking);
    if line.is_empty() {
        Vec::new()
    } else {
        vec![Line::from(dim(keep_start(
            &format!("· thinking: {line}"),
            width,
        )))]
    }
}

/// The todos around the first one that is not done.
fn todos(todos: &[TodoItem], width: usize) -> Vec<Line<'static>> {
    if todos
        .iter()
        .all(|todo| todo.status == TodoStatus::Completed)
    {
        return Vec::new();
    }
    let open = todos
        .iter()
        .position(|todo| todo.status != TodoStatus::Completed);
    let from = open.unwrap_or(0).saturating_sub(1);
    let from = from.min(todos.len().saturating_sub(TODOS));
    let mut lines = Vec::new();
    for todo in todos.iter().skip(from).take(TODOS) {
        let (mark, text, style) = match todo.status {
            TodoStatus::Completed => ("✓", &todo.content, DIM),
            TodoStatus::InProgress if todo.active_form.is_empty() => ("▸", &todo.content, BOLD),
            TodoStatus::InProgress => ("▸", &todo.active_form, BOLD),
            TodoStatus::Pending => ("☐", &todo.content, ratatui::style::Style::new()),
        };
        let line = keep_start(&format!("  {mark} {}", clean_line(text)), width);
        lines.push(Line::from(styled(line, style)));
    }
    let hidden = todos.len() - lines.len();
    if hidden > 0 {
        let done = todos
            .iter()
            .filter(|todo| todo.status == TodoStatus::Completed)
            .count();
        let all = format!("  {done} of {} done", todos.len());
        lines.push(Line::from(dim(keep_start(&all, width))));
    }
    lines
}
