//! Tells the user's hooks that something waits for the user (K1): a question, or a prompt that has been empty for a
//! while. Nothing waits for these hooks, and nothing that they say is used.

use longhaul::hooks::{HookEvent, NotificationType};
use longhaul_core::prompt::UserPresence;

use super::hook_runner::HookRunner;
use super::running::Agent;
use crate::event::ApprovalRequest;
use crate::tool::ToolAccess;

impl HookRunner {
    /// Tells hooks that the user is asked; nobody is told where nobody is there.
    pub(crate) fn notify_asking(&self, asked: &ApprovalRequest, presence: UserPresence) {
        if presence == UserPresence::Attended {
            let (kind, title, message) = match asked.access {
                ToolAccess::AsksUser(_) => (
                    NotificationType::ElicitationDialog,
                    "A question for you",
                    "Longhaul needs your answer".to_owned(),
                ),
                _ => (
                    NotificationType::PermissionPrompt,
                    "Permission needed",
                    format!("Longhaul needs your permission to use {}", asked.name),
                ),
            };
            self.notify(kind, title, message);
        }
    }

    fn notify(&self, notification_type: NotificationType, title: &str, message: String) {
        let event = HookEvent::Notification {
            message,
            title: Some(title.to_owned()),
            notification_type,
        };
        let runner = self.clone();
        tokio::spawn(async move {
            let _ = runner.run_hooks(event).await;
        });
    }
}

impl Agent {
    /// Tells hooks that the work is done and that the user has not done anything since.
    pub(crate) fn notify_idle(&self) {
        self.opened.worker.tool_executor.hook_runner.notify(
            NotificationType::IdlePrompt,
            "Waiting for you",
            "Longhaul is waiting for your input".to_owned(),
        );
    }
}
