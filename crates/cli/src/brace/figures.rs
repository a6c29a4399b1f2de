use std::path::Path;
use std::sync::Arc;
use kumite_motion::library::Library;
use crate::Report;
use crate::failure::CliResult;
pub(super) fn run(_library: &Arc<Library>, _folder: &Path) -> CliResult<Report> {
    Ok(Report { text: String::new(), json: serde_json::json!({}) })
}
