// A headless Chromium at the other end of a pipe, for the scripts that look at pages. Node.js alone, no packages.
'use strict';
const { spawn, spawnSync } = require('node:child_process');
const path = require('node:path');

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

// The browser: the one named in $CHROMIUM, or one on the path.
function find() {
  return [process.env.CHROMIUM, ...NAMES].find((name) => name && !spawnSync(name, ['--version']).error);
}

// A browser at the other end of a pipe, and what it is asked.
class Browser {
  constructor(program, folder) {
    const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync', '--hide-scrollbars', '--remote-debugging-pipe',
      `--user-data-dir=${path.join(folder, 'profile')}`];
    this.process = spawn(program, flags, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    this.process.on('exit', () => this.waiting.forEach(({ reject }) => reject(new Error('the browser went away'))));
    this.waiting = new Map();
    this.listeners = [];
    this.next = 1;
    let rest = '';
    this.process.stdio[4].setEncoding('utf8').on('data', (data) => {
      const parts = (rest + data).split('\0');
      rest = parts.pop();
      parts.forEach((part) => this.hear(JSON.parse(part)));
    });
  }

  hear(message) {
    const call = this.waiting.get(message.id);
    if (!call) return this.listeners.forEach((listener) => listener(message));
    this.waiting.delete(message.id);
    if (message.error) call.reject(new Error(message.error.message));
    else call.resolve(message.result);
  }

  // Of the page in front, or of the browser itself.
  ask(method, params = {}, sessionId = this.session) {
    const id = this.next++;
    this.process.stdio[3].write(JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) }) + '\0');
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  async close() {
    if (this.process.exitCode !== null) return;
    const gone = new Promise((resolve) => this.process.once('exit', resolve));
    this.ask('Browser.close', {}, null).catch(() => {});
    await gone;
  }

  heard(method) {
    return new Promise((resolve) => {
      const listener = (message) => {
        if (message.method !== method || message.sessionId !== this.session) return;
        this.listeners = this.listeners.filter((other) => other !== listener);
        resolve();
      };
      this.listeners.push(listener);
    });
  }
}

module.exports = { Browser, find };
