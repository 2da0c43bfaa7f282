//! Campaigns: how they go, as the command says it. It is asked only while a page asks, and not too often.

use crate::command::Commands;
use crate::error::ApiError;
use crate::server::ServerSettings;
use crate::state::ServerState;
use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

/// Campaigns that are looked at at a time; others wait. Slow disks should not hinder each other, nor many campaigns the machine.
const TOGETHER: usize = 4;

/// How often a campaign is looked at, and how long a page waits for that.
#[derive(Clone, Copy)]
struct Pace {
    /// From the end of one look to the next.
    rest: Duration,
    /// What is older is given to pages that would have to wait for longer.
    patience: Duration,
}

const USUAL: Pace = Pace { rest: Duration::from_secs(5), patience: Duration::from_secs(2) };

/// The campaigns that this server shows. Requests know them by their place in this list, never by a path.
pub struct Campaigns {
    commands: Commands,
    pace: Pace,
    all: Vec<Campaign>,
}

/// A campaign.
struct Campaign {
    folder: PathBuf,
    heard: watch::Sender<Heard>,
}

/// What was last heard of a campaign.
#[derive(Default)]
struct Heard {
    /// Whether a process is being asked.
    asking: bool,
    /// When the last one had answered.
    ended: Option<Instant>,
    answer: Option<Result<Value, ApiError>>,
}

impl Campaigns {
    /// Those of this server, of which nothing is known yet.
    pub fn new(settings: &ServerSettings) -> Arc<Campaigns> {
        Campaigns::at(USUAL, settings)
    }

    fn at(pace: Pace, settings: &ServerSettings) -> Arc<Campaigns> {
        let campaign =
            |folder: &PathBuf| Campaign { folder: folder.clone(), heard: watch::Sender::default() };
        let all = settings.campaigns.iter().map(campaign).collect();
        Arc::new(Campaigns { commands: Commands::new(settings, TOGETHER), pace, all })
    }

    /// What is known of all of them. Where that is old, the command is asked, and waited for if it does not take long.
    async fn told(self: &Arc<Campaigns>) -> Vec<Value> {
        (0..self.all.len()).for_each(|place| self.look(place));
        let end = Instant::now() + self.pace.patience;
        for campaign in &self.all {
            let mut heard = campaign.heard.subscribe();
            // What was known before will do.
            drop(timeout_at(end, heard.wait_for(|heard| !heard.asking)).await);
        }
        self.all.iter().enumerate().map(|(place, campaign)| campaign.told(place)).collect()
    }

    /// Asks the command, unless it is being asked or has just been.
    fn look(self: &Arc<Campaigns>, place: usize) {
        let begins = self.all[place].heard.send_if_modified(|heard| {
            let due = !heard.asking && heard.ended.is_none_or(|ended| ended.elapsed() >= self.pace.rest);
            heard.asking |= due;
            due
        });
        if !begins {
            return;
        }
        // Goes on when the page goes away: the next one gets the answer.
        let all = self.clone();
        tokio::spawn(async move {
            let Campaign { folder, heard } = &all.all[place];
            let answer = all.commands.ask_about(&["campaign", "status"], folder).await;
            let answer = answer.and_then(|status| match status.is_object() {
                true => Ok(status),
                false => Err(ApiError::inside("the command told no status")),
            });
            heard.send_replace(Heard { asking: false, ended: Some(Instant::now()), answer: Some(answer) });
        });
    }
}

impl Campaign {
    fn told(&self, place: usize) -> Value {
        let folder = self.folder.to_string_lossy();
        match &self.heard.borrow().answer {
            Some(Ok(status)) => json!({ "place": place, "status": status }),
            Some(Err(error)) => json!({ "place": place, "folder": folder, "error": error.words() }),
            None => json!({ "place": place, "folder": folder }),
        }
    }
}

/// All campaigns.
pub async fn list(State(shared): State<Arc<ServerState>>) -> Json<Value> {
    Json(json!(shared.campaigns.told().await))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use tokio::time::timeout;

    /// Notes what it was asked, and answers with what it finds in the folder of the campaign once nothing holds it back.
    const COMMAND: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake-command");

    /// Folders of campaigns, for as long as a test takes.
    struct Scratch(PathBuf);

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    impl Scratch {
        fn new(test: &str) -> Scratch {
            let folder = std::env::temp_dir().join(format!("rl4rla-campaigns-{test}-{}", std::process::id()));
            fs::create_dir_all(&folder).unwrap();
            Scratch(folder)
        }

        fn campaign(&self, name: impl AsRef<OsStr>, answer: &str, code: &str) -> PathBuf {
            let folder = self.0.join(name.as_ref());
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("answer"), answer).unwrap();
            fs::write(folder.join("code"), code).unwrap();
            folder
        }

        fn serve(&self, pace: Pace, folders: &[PathBuf]) -> Arc<Campaigns> {
            let (store, campaigns) = (self.0.join("runs.db"), folders.to_vec());
            let command = COMMAND.into();
            Campaigns::at(pace, &ServerSettings { store, port: 0, read_only: false, campaigns, command })
        }
    }

    const OFTEN: Pace = Pace { rest: Duration::ZERO, patience: Duration::from_secs(60) };
    const ONCE: Pace = Pace { rest: Duration::from_secs(3600), ..OFTEN };

    fn asked(folder: &Path) -> usize {
        fs::read_to_string(folder.join("asked")).map_or(0, |text| text.lines().count())
    }

    fn wait<T>(work: impl Future<Output = T>) -> T {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            timeout(Duration::from_secs(120), work).await.expect("what is waited for comes")
        })
    }

    #[test]
    fn the_answer_is_that_of_the_command() {
        let scratch = Scratch::new("usual");
        let folder = scratch.campaign("a", r#"{"tasks":3}"#, "0");
        let told = wait(async { scratch.serve(ONCE, std::slice::from_ref(&folder)).told().await });
        assert_eq!(told, [json!({ "place": 0, "status": { "tasks": 3 } })]);
        let words = fs::read_to_string(folder.join("words")).unwrap();
        let words: Vec<&str> = words.lines().collect();
        assert_eq!(words[..5], ["campaign", "status", "--json", "--quiet", "--store"]);
        assert_eq!(words[6..], ["--", folder.to_str().unwrap()]);
    }

    #[test]
    fn many_pages_ask_the_command_once_in_a_while() {
        let scratch = Scratch::new("rate");
        let [rare, often] = ["rare", "often"].map(|name| scratch.campaign(name, "{}", "0"));
        wait(async {
            let all = scratch.serve(ONCE, std::slice::from_ref(&rare));
            assert_eq!(asked(&rare), 0, "nothing is asked before a page asks");
            let page = |all: Arc<Campaigns>| tokio::spawn(async move { all.told().await });
            let pages: Vec<_> = (0..20).map(|_| page(all.clone())).collect();
            for page in pages {
                assert_eq!(page.await.unwrap()[0]["status"], json!({}));
            }
            all.told().await;
            assert_eq!(asked(&rare), 1);
            let all = scratch.serve(OFTEN, std::slice::from_ref(&often));
            for times in 1..4 {
                all.told().await;
                assert_eq!(asked(&often), times, "once it is due");
            }
        });
    }

    #[test]
    fn a_slow_command_is_not_asked_twice_and_the_last_answer_is_given_meanwhile() {
        let scratch = Scratch::new("slow");
        let (slow, quick) =
            (scratch.campaign("slow", r#"{"done":1}"#, "0"), scratch.campaign("quick", "{}", "0"));
        fs::write(slow.join("hold"), "").unwrap();
        wait(async {
            let impatient = Pace { patience: Duration::from_millis(1), ..OFTEN };
            let all = scratch.serve(impatient, &[slow.clone(), quick.clone()]);
            assert_eq!(all.told().await[0], json!({ "place": 0, "folder": slow.to_str().unwrap() }));
            let until = async |wanted: Value| {
                while all.told().await[0]["status"] != wanted {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            };
            while asked(&quick) < 3 || !slow.join("held").exists() {
                all.told().await;
            }
            assert_eq!(asked(&slow), 1, "one process at a time, and others are not held back");
            fs::remove_file(slow.join("hold")).unwrap();
            until(json!({ "done": 1 })).await;
            fs::write(slow.join("hold"), "").unwrap();
            fs::remove_file(slow.join("held")).unwrap();
            while !slow.join("held").exists() {
                all.told().await;
            }
            fs::write(slow.join("answer"), r#"{"done":2}"#).unwrap();
            assert_eq!(all.told().await[0]["status"], json!({ "done": 1 }), "the last answer");
            fs::remove_file(slow.join("hold")).unwrap();
            until(json!({ "done": 2 })).await;
        });
    }

    #[test]
    fn errors_are_told_in_the_words_of_the_command_and_pass() {
        let refused = r#"{"error":{"message":"there is no campaign","advice":"create one"}}"#;
        let scratch = Scratch::new("errors");
        let [none, torn, killed] =
            [("none", refused, "2"), ("torn", r#"{"tasks":"#, "0"), ("killed", "", "101")]
                .map(|(name, answer, code)| scratch.campaign(name, answer, code));
        wait(async {
            let all = scratch.serve(OFTEN, &[none.clone(), torn, killed]);
            let told = all.told().await;
            let error = json!({ "message": "there is no campaign", "advice": "create one" });
            assert_eq!(told[0], json!({ "place": 0, "folder": none.to_str().unwrap(), "error": error }));
            for item in &told[1..] {
                assert!(item["error"]["message"].as_str().is_some_and(|text| text.len() > 5), "{item}");
                assert!(item["status"].is_null(), "{item}");
            }
            scratch.campaign("none", r#"{"tasks":1}"#, "0");
            assert_eq!(all.told().await[0]["status"], json!({ "tasks": 1 }));
        });
    }

    #[test]
    fn no_folder_is_taken_for_anything_else() {
        let scratch = Scratch::new("names");
        let names =
            ["--help", "-", "a b", "$(touch broken)", "`touch broken`", "a\nb", "'\"", "<b>", "*", "..."];
        // Other systems have no such names.
        let no_text = cfg!(target_os = "linux").then_some(OsStr::from_bytes(b"\xff\xfe"));
        let names = names.iter().map(OsStr::new).chain(no_text);
        let folders: Vec<PathBuf> = names
            .enumerate()
            .map(|(nth, name)| scratch.campaign(name, &format!(r#"{{"nth":{nth}}}"#), "0"))
            .collect();
        let told = wait(async { scratch.serve(ONCE, &folders).told().await });
        for (nth, (item, folder)) in told.iter().zip(&folders).enumerate() {
            assert_eq!(item["status"]["nth"], nth, "{}: {item}", folder.display());
            let words = fs::read(folder.join("words")).unwrap();
            assert!(words.ends_with(&[b"--\n", folder.as_os_str().as_bytes(), b"\n"].concat()));
        }
        assert!(!scratch.0.join("broken").exists() && !Path::new("broken").exists());
    }
}
