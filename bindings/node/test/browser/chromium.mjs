// Headless Chromium over its debugging pipe: JSON messages that end with a NUL, on descriptors 3 and 4.
import { spawn } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

export const HINT = 'Chromium is not installed; Debian: apt-get install chromium';

/** The browser of this machine, by its path. */
export function findChromium() {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
      try {
        accessSync(join(folder, name), constants.X_OK);
        return join(folder, name);
      } catch {
        // Not there.
      }
    }
  }
  return undefined;
}

/** One page in a browser of its own. */
export class Page {
  #profile = mkdtempSync(join(tmpdir(), 'towline-chromium-'));
  #browser;
  #session;
  #calls = new Map();
  #last = 0;
  /** Errors that the page has thrown, and lines it wrote to the console. */
  complaints = [];

  static async open(executable, address) {
    const page = new Page();
    await page.#start(executable);
    const { targetId } = await page.#call('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await page.#call('Target.attachToTarget', { targetId, flatten: true });
    page.#session = sessionId;
    await page.#call('Runtime.enable');
    await page.#call('Page.enable');
    await page.#call('Page.navigate', { url: address });
    await page.until('document.readyState === "complete"');
    return page;
  }

  async #start(executable) {
    const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'];
    const more = ['--disable-extensions', '--disable-background-networking', `--user-data-dir=${this.#profile}`];
    this.#browser = spawn(executable, [...flags, ...more, '--remote-debugging-pipe'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    });
    const pieces = [];
    this.#browser.stdio[4].on('data', (chunk) => {
      for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0)) {
        pieces.push(chunk.subarray(0, end));
        this.#receive(JSON.parse(Buffer.concat(pieces.splice(0)).toString()));
        chunk = chunk.subarray(end + 1);
      }
      pieces.push(chunk);
    });
    this.#browser.once('exit', (code) => {
      for (const { reject } of this.#calls.values()) reject(new Error(`Chromium exited with ${code}`));
    });
  }

  #receive({ id, method, params, result, error }) {
    if (method === 'Runtime.exceptionThrown') this.complaints.push(params.exceptionDetails);
    if (method === 'Runtime.consoleAPICalled') this.complaints.push(params.args);
    const call = this.#calls.get(id);
    if (!call) return;
    this.#calls.delete(id);
    if (error) call.reject(new Error(`${call.method}: ${error.message}`));
    else call.resolve(result);
  }

  #call(method, params = {}) {
    const id = (this.#last += 1);
    const message = { id, method, params, sessionId: this.#session };
    this.#browser.stdio[3].write(`${JSON.stringify(message)}\0`);
    return new Promise((resolve, reject) => this.#calls.set(id, { method, resolve, reject }));
  }

  /** The value of an expression in the page. */
  async evaluate(expression) {
    const params = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await this.#call('Runtime.evaluate', params);
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Waits until the page changes so that the expression holds. */
  async until(expression, limit = 30_000) {
    const held = await this.evaluate(`new Promise((resolve) => {
      const look = () => { if (${expression}) { observer.disconnect(); removeEventListener('load', look); resolve(true); } };
      const observer = new MutationObserver(look);
      observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
      addEventListener('load', look);
      setTimeout(() => resolve(false), ${limit});
      look();
    })`);
    if (!held) throw new Error(`It did not hold: ${expression}\n${await this.evaluate('document.body.innerText')}`);
  }

  /** Clicks the middle of an element, as a mouse does. */
  async click(selector) {
    const { x, y } = await this.evaluate(`(() => {
      const element = document.querySelector(${JSON.stringify(selector)});
      element.scrollIntoView({ block: 'center', behavior: 'instant' });
      const box = element.getBoundingClientRect();
      return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    })()`);
    for (const type of ['mousePressed', 'mouseReleased']) {
      await this.#call('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount: 1 });
    }
  }

  /** Types into what has the focus. */
  async type(text) {
    await this.#call('Input.insertText', { text });
  }

  async resize(width, height) {
    const screen = { width, height, deviceScaleFactor: 1, mobile: width < 500 };
    await this.#call('Emulation.setDeviceMetricsOverride', screen);
  }

  /** A PNG of what is to be seen. */
  async screenshot() {
    const { data } = await this.#call('Page.captureScreenshot', { format: 'png' });
    return Buffer.from(data, 'base64');
  }

  async close() {
    const gone = new Promise((resolve) => this.#browser.once('exit', resolve));
    await this.#call('Browser.close').catch(() => {});
    await gone;
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
