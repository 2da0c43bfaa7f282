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

/// Most searches of a campaign that are shown: there may be 20,000.
const LISTED: usize = 60;

/// How often a campaign is looked at, and how long a page waits for that.
#[derive(Clone, Copy)]
struct Pace {
    /// The shortest and the longest time from the end of one look to the next.
    least: Duration,
    most: Duration,
    /// What is older is given to pages that would have to wait for longer.
    patience: Duration,
}

const USUAL: Pace =
    Pace { least: Duration::from_secs(5), most: Duration::from_secs(60), patience: Duration::from_secs(2) };

impl Pace {
    /// The time until the next look after one that took so long: a controller and a file server serve many.
    fn rest(&self, taken: Duration) -> Duration {
        (taken * 20).clamp(self.least, self.most)
    }
}

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
    /// When the next one may be.
    due: Option<Instant>,
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
            let due = !heard.asking && heard.due.is_none_or(|due| due <= Instant::now());
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
            let begin = Instant::now();
            let answer = all.commands.ask_about(&["campaign", "status"], folder).await;
            let answer = answer.and_then(|status| match status.is_object() {
                true => Ok(shortened(status)),
                false => Err(ApiError::inside("the command told no status")),
            });
            let due = Instant::now() + all.pace.rest(begin.elapsed());
            heard.send_replace(Heard { asking: false, due: Some(due), answer: Some(answer) });
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

/// A status with its first searches only, and the number of those left out.
fn shortened(mut status: Value) -> Value {
    if let Some(Value::Array(searches)) = status.get_mut("searches") {
        let left_out = searches.len().saturating_sub(LISTED);
        searches.truncate(LISTED);
        status["searches_left_out"] = left_out.into();
    }
    status
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

    const HOUR: Duration = Duration::from_secs(3600);
    const OFTEN: Pace =
        Pace { least: Duration::ZERO, most: Duration::ZERO, patience: Duration::from_secs(60) };
    const ONCE: Pace = Pace { least: HOUR, most: HOUR, ..OFTEN };

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
    fn the_first_searches_are_told_and_the_others_counted() {
        let scratch = Scratch::new("searches");
        let searches = |numbers: std::ops::Range<usize>| -> Vec<Value> {
            numbers.map(|number| json!({ "name": format!("s{number}") })).collect()
        };
        let sizes = [0, LISTED, LISTED + 1, 20_000];
        let folders = sizes.map(|size| {
            let answer = json!({ "tasks": size, "searches": searches(0..size), "next": null }).to_string();
            scratch.campaign(size.to_string(), &answer, "0")
        });
        let told = wait(async { scratch.serve(ONCE, &folders).told().await });
        for (size, item) in sizes.into_iter().zip(&told) {
            let shown = size.min(LISTED);
            let status = json!({
                "tasks": size, "searches": searches(0..shown), "searches_left_out": size - shown, "next": null,
            });
            assert_eq!(item["status"], status, "{size}");
        }
    }

    #[test]
    fn looks_that_take_long_are_rare() {
        let seconds = Duration::from_secs_f64;
        for (taken, rest) in [(0.0, 5.0), (0.25, 5.0), (0.5, 10.0), (1.5, 30.0), (3.0, 60.0), (100.0, 60.0)] {
            assert_eq!(USUAL.rest(seconds(taken)), seconds(rest), "{taken}");
        }
        let scratch = Scratch::new("costly");
        let costly = scratch.campaign("costly", "{}", "0");
        fs::write(costly.join("hold"), "").unwrap();
        wait(async {
            // Twenty times half a second: more than the rest of this test takes.
            let pace = Pace { most: HOUR, patience: Duration::from_millis(500), ..OFTEN };
            let all = scratch.serve(pace, std::slice::from_ref(&costly));
            all.told().await;
            fs::remove_file(costly.join("hold")).unwrap();
            while all.told().await[0]["status"].is_null() {}
            all.told().await;
            assert_eq!(asked(&costly), 1);
        });
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
