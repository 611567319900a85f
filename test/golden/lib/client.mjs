// HTTP side of the replay: ordinary requests over one keep-alive connection, and watches,
// each on a connection of its own.

import http from 'node:http';
import https from 'node:https';

const USER_AGENT = 'golden/1.0';   // the server derives the default field manager from it

export class Client {
  constructor({ base, token, users = {}, timeoutMs = 60000 }) {
    this.base = new URL(base);
    this.authority = this.base.host;
    this.transport = this.base.protocol === 'https:' ? https : http;
    this.agent = new this.transport.Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
    this.users = { admin: token, ...users };
    this.timeoutMs = timeoutMs;
  }

  close() { this.agent.destroy(); }

  // {path, headers, data} of the request a step describes
  encode(step) {
    const query = Array.isArray(step.query) ? step.query : Object.entries(step.query ?? {});
    const search = query.map(([k, v]) => `${encodeURIComponent(k)}=${encodeURIComponent(v)}`).join('&');
    const prefix = this.base.pathname.replace(/\/$/, '');
    const target = prefix + step.path + (search ? `${step.path.includes('?') ? '&' : '?'}${search}` : '');

    const headers = { accept: 'application/json', 'user-agent': USER_AGENT };
    const token = step.token ?? this.users[step.user ?? 'admin'];
    if (step.user !== 'anonymous' && token) headers.authorization = `Bearer ${token}`;

    let data;
    if (step.rawBody !== undefined) data = Buffer.from(step.rawBody, step.rawEncoding ?? 'utf8');
    else if (step.body !== undefined) data = Buffer.from(JSON.stringify(step.body));
    if (data) {
      headers['content-type'] = 'application/json';
      headers['content-length'] = data.length;
    }
    for (const [name, value] of Object.entries(step.headers ?? {})) {
      if (value === null) delete headers[name.toLowerCase()];
      else headers[name.toLowerCase()] = value;
    }
    return { target, headers, data };
  }

  start(step, agent, onResponse, onError) {
    const { target, headers, data } = this.encode(step);
    const request = this.transport.request({
      protocol: this.base.protocol, hostname: this.base.hostname, port: this.base.port,
      method: step.method ?? 'GET', path: target, headers, agent, rejectUnauthorized: false,
    }, onResponse);
    request.on('error', onError);
    request.end(data);
    return request;
  }

  // -> {status, headers, body}: body is parsed JSON where the answer is JSON, else text
  async request(step, attempt = 0) {
    try {
      const answer = await this.requestOnce(step);
      if (!notReady(answer) || attempt >= 25) return answer;
      await pause();
      return this.request(step, attempt + 1);
    } catch (error) {
      // An idle connection the server has just closed, or one it closed on us while the
      // request was still being sent: once more on a new connection.
      const retry = ['ECONNRESET', 'EPIPE', 'ECONNREFUSED'].includes(error.code);
      if (retry && attempt < 3) return this.request(step, attempt + 1);
      throw error;
    }
  }

  requestOnce(step) {
    return new Promise((resolve, reject) => {
      let answered = false;
      const request = this.start(step, this.agent, (response) => {
        answered = true;
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          clearTimeout(timer);
          resolve(decode(response, Buffer.concat(chunks)));
        });
      }, (error) => { clearTimeout(timer); if (!answered) reject(error); });
      const timer = setTimeout(() => request.destroy(new Error(`no answer within ${this.timeoutMs} ms`)), this.timeoutMs);
    });
  }

  async openWatch(step, attempt = 0) {
    const stream = await this.openWatchOnce(step);
    if (stream.response.statusCode === 200) return stream;
    while (!stream.ended) await stream.changed(1000);      // a refusal is read to its end
    if (!notReady(stream.close()) || attempt >= 25) return stream;
    await pause();
    return this.openWatch(step, attempt + 1);
  }

  // Resolves when the answer's headers are there.
  openWatchOnce(step) {
    return new Promise((resolve, reject) => {
      const request = this.start(step, new this.transport.Agent({ keepAlive: false, rejectUnauthorized: false }), (response) => {
        clearTimeout(timer);
        resolve(new WatchStream(request, response));
      }, (error) => { clearTimeout(timer); reject(error); });
      const timer = setTimeout(() => request.destroy(new Error(`no answer within ${this.timeoutMs} ms`)), this.timeoutMs);
    });
  }
}

class WatchStream {
  constructor(request, response) {
    this.response = response;
    this.events = [];
    this.ended = false;
    this.text = '';
    this.waiters = [];
    const finish = () => { this.ended = true; this.wake(); };
    request.removeAllListeners('error');
    request.on('error', finish);
    response.on('data', (chunk) => this.take(chunk));
    response.on('end', finish);
    response.on('error', finish);
    response.on('close', finish);
    this.stop = () => request.destroy();
  }

  take(chunk) {
    this.text += chunk.toString('utf8');
    if (this.response.statusCode !== 200) return;
    let end;
    while ((end = this.text.indexOf('\n')) >= 0) {
      const line = this.text.slice(0, end);
      this.text = this.text.slice(end + 1);
      if (line.trim() && !atDiscretion(line)) this.events.push(parseOr(line, { unparsed: line }));
    }
    this.wake();
  }

  wake() { this.waiters.splice(0).forEach((w) => w()); }

  changed(ms) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.max(ms, 0));
      this.waiters.push(() => { clearTimeout(timer); resolve(); });
    });
  }

  close() {
    const closedBy = this.ended ? 'server' : 'client';
    this.stop();
    const { status, headers } = decode(this.response, Buffer.alloc(0));
    if (status !== 200) return { status, headers, body: parseOr(this.text, this.text) };
    return { status, headers, events: this.events, closedBy };
  }
}

// After a change to a definition a server may say for a moment that it is not ready; every
// client tries again then.
const notReady = ({ status, body }) => status === 429 && /\(re\)initializing/.test(body?.message ?? '');
const pause = () => new Promise((resolve) => setTimeout(resolve, 200));

// Bookmarks may come at any time. Only the one that ends the initial events is expected.
const atDiscretion = (line) => line.includes('"BOOKMARK"') && !line.includes('k8s.io/initial-events-end');

// How a text is laid out, for steps about pretty printing
function layoutOf(data) {
  if (data.length > 100000) return undefined;
  const lines = data.toString('utf8').split('\n');
  return { lines: lines.length, indent: lines[1]?.match(/^ */)[0].length ?? 0 };
}

const parseOr = (text, fallback) => { try { return JSON.parse(text); } catch { return fallback; } };

function decode(response, data) {
  const headers = {};
  for (let i = 0; i < response.rawHeaders.length; i += 2) {
    const name = response.rawHeaders[i].toLowerCase();
    if (name === 'warning') (headers.warning ??= []).push(response.rawHeaders[i + 1]);
    else headers[name] = response.rawHeaders[i + 1];
  }
  const type = headers['content-type'] ?? '';
  let body;
  if (data.length === 0) body = undefined;
  else if (/protobuf|octet-stream/.test(type)) body = { bytesStartWith: data.subarray(0, 4).toString('latin1') };
  else {
    const text = data.toString('utf8');
    body = /json/.test(type) || text.startsWith('{') ? parseOr(text, text) : text;
  }
  return { status: response.statusCode, headers, body, layout: layoutOf(data) };
}
