// One scenario against one server: performs its steps in order and judges every answer.

import { compareAnswers } from './compare.mjs';
import { readPath, satisfies } from './jsonpath.mjs';
import { Names, normalise } from './normalise.mjs';

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// A short word, new for every scenario of every run, that goes into all names a scenario
// uses. It makes scenarios independent of each other and of what the server already holds.
function freshId() {
  const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
  let id = 'z';
  for (let i = 0; i < 6; i++) id += alphabet[Math.floor(Math.random() * alphabet.length)];
  return id;
}

// Replaces ${name} by a variable and ${repeat:TEXT:COUNT} by TEXT repeated.
function substitute(value, vars) {
  if (typeof value === 'string') {
    return value
      .replace(/\$\{repeat:(.*?):(\d+)\}/gs, (_, text, count) => text.repeat(Number(count)))
      .replace(/\$\{([A-Za-z0-9_-]+)\}/g, (_, name) => (vars[name] !== undefined ? String(vars[name]) : `unset-${name}`));
  }
  if (Array.isArray(value)) return value.map((v) => substitute(v, vars));
  if (value && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [substitute(k, vars), substitute(v, vars)]));
  }
  return value;
}

function mergePatched(target, patch) {
  if (patch === null || typeof patch !== 'object' || Array.isArray(patch)) return patch;
  const out = target && typeof target === 'object' && !Array.isArray(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete out[key];
    else out[key] = mergePatched(out[key], value);
  }
  return out;
}

// Ids of all steps, those inside watches included.
const stepIds = (steps) => steps.flatMap((step) => [...stepIds(step.steps ?? []), step.id]);

export class ScenarioRun {
  constructor(scenario, client, recorded, options) {
    this.scenario = scenario;
    this.client = client;
    this.options = options;
    this.recorded = recorded;      // step id -> recorded answer
    this.answers = {};             // step id -> normalised answer (what --record writes)
    this.results = [];             // {id, ok, diffs}
    this.created = [];             // paths of objects to delete afterwards
    this.waitedInVain = [];        // ids of steps whose condition never came true
    this.vars = { id: freshId(), adminToken: options.token, aliceToken: options.users.alice };
    this.names = new Names(this.vars.id, client.authority);
    for (const [name, suffix] of Object.entries(scenario.namespaces ?? {})) {
      this.vars[name] = `g-${this.vars.id}${suffix ? '-' + suffix : ''}`;
    }
    Object.assign(this.vars, substitute(scenario.vars ?? {}, this.vars));
  }

  async run() {
    await this.prepare();
    await this.runSteps(this.scenario.steps);
    this.judgeRest();
    if (!this.options.keep) await this.cleanUp();
  }

  // Namespaces, their default service accounts and uncompared preparatory steps.
  async prepare() {
    for (const name of Object.keys(this.scenario.namespaces ?? {})) {
      const namespace = this.vars[name];
      await this.quietly({ method: 'POST', path: '/api/v1/namespaces', body: {
        apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels: { golden: this.vars.id } } } });
    }
    for (const name of this.scenario.serviceAccounts ?? []) {
      await this.quietly({ method: 'POST', path: `/api/v1/namespaces/${this.vars[name]}/serviceaccounts`, body: {
        apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } } });
    }
    for (const step of this.scenario.setup ?? []) {
      const answer = await this.performUntil(substitute(step, this.vars));
      this.save(step, answer);
    }
  }

  async quietly(step) {
    try { return await this.perform(step); } catch { return null; }
  }

  async runSteps(steps) {
    for (const step of steps) {
      if (step.watch) await this.runWatch(step);
      else await this.runRequest(step);
    }
  }

  async runRequest(step) {
    let answer;
    try {
      answer = await this.performUntil(substitute(step, this.vars));
    } catch (error) {
      answer = { failure: describe(error), status: 0, headers: {} };
    }
    this.save(step, answer);
    this.judge(step, answer, substitute(step, this.vars));
  }

  // Opens the watch, performs the nested steps while it is open, then collects events until
  // the wanted count is reached (plus a moment to notice surplus ones), the time is over,
  // or the server closes the stream.
  async runWatch(step) {
    const request = substitute(step, this.vars);
    const { events: wanted, forMs = 5000, settleMs = 200 } = step.watch;
    let answer;
    try {
      const stream = await this.client.openWatch(request);
      await this.runSteps(step.steps ?? []);
      const deadline = Date.now() + forMs;
      const enough = () => wanted !== undefined && stream.events.length >= wanted;
      while (!stream.ended && !enough() && Date.now() < deadline) await stream.changed(deadline - Date.now());
      if (enough() && !stream.ended) await sleep(settleMs);
      answer = stream.close();
    } catch (error) {
      answer = { failure: describe(error), status: 0, headers: {} };
    }
    this.save(step, { ...answer, body: answer.events ?? answer.body });
    this.judge(step, answer, request);
  }

  // bodyFrom sends an object saved earlier, changed by bodyMerge (a JSON merge patch).
  withBody(step) {
    if (!step.bodyFrom) return step;
    let saved = {};
    try { saved = JSON.parse(this.vars[step.bodyFrom]); } catch { /* the step that saves it failed */ }
    return { ...step, body: mergePatched(saved, step.bodyMerge ?? {}) };
  }

  async perform(step) {
    const answer = await this.client.request(this.withBody(step));
    this.remember(step, answer);
    return answer;
  }

  async performUntil(step) {
    if (step.pauseMs) await sleep(step.pauseMs);
    const deadline = Date.now() + this.patience(step.until?.withinMs ?? 0);
    for (;;) {
      const answer = await this.perform(step);
      if (!step.until || satisfies(answer, step.until)) return answer;
      if (Date.now() > deadline) {
        this.waitedInVain.push(step.id);
        return answer;
      }
      await sleep(step.until.everyMs ?? 50);
    }
  }

  // A scenario in which one wait was in vain does not wait long again.
  patience(ms) {
    const limits = [ms, this.options.patience * 1000];
    if (this.waitedInVain.length > 0) limits.push(1000);
    return Math.min(...limits);
  }

  save(step, answer) {
    for (const [name, where] of Object.entries(step.save ?? {})) {
      const { path: at, mask } = typeof where === 'string' ? { path: where } : where;
      const value = readPath(answer.body, at);
      if (value === undefined) continue;
      this.vars[name] = typeof value === 'string' ? value : JSON.stringify(value);
      if (mask) this.names.mask(this.vars[name], mask);
    }
  }

  // `request` is the step as it was sent.
  judge(step, received, request) {
    const expected = this.options.record ? undefined : this.recorded?.[step.id];
    const answer = normalise(received, request, this.names, expected);
    this.answers[step.id] = answer;
    if (this.options.record) {
      this.results.push({ id: step.id, ok: !answer.failure, diffs: answer.failure ? [{ path: 'request', expected: 'an answer', got: answer.failure }] : [] });
      return;
    }
    const diffs = expected
      ? compareAnswers(expected, answer, this.options.codes ? { ...step, compare: 'code' } : step, this.options.ignore)
      : [{ path: 'recorded', expected: 'a recorded answer', got: 'none in the corpus' }];
    this.results.push({ id: step.id, ok: diffs.length === 0, diffs });
  }

  // Steps inside a watch that could not be opened were never performed.
  judgeRest() {
    const judged = new Set(this.results.map((r) => r.id));
    for (const id of stepIds(this.scenario.steps)) {
      if (!judged.has(id)) this.results.push({ id, ok: false, diffs: [{ path: 'request', expected: 'an answer', got: 'not sent' }] });
    }
  }

  remember(step, answer) {
    if (answer.status !== 201 || step.query?.dryRun) return;
    const name = answer.body?.metadata?.name;
    if (step.method === 'POST' && name) this.created.push(`${step.path}/${name}`);
    else if (step.method !== 'POST') this.created.push(step.path);
  }

  async cleanUp() {
    for (const step of this.scenario.cleanup ?? []) await this.quietly(substitute(step, this.vars));
    for (const target of [...new Set(this.created)].reverse()) {
      if (/^\/api\/v1\/namespaces\/[^/]+$/.test(target)) await this.removeNamespace(target);
      else await this.removeObject(target);
    }
  }

  async removeObject(target) {
    const gone = (a) => !a || a.status === 404 || a.status === 405;
    if (gone(await this.quietly({ method: 'DELETE', path: target, query: { gracePeriodSeconds: '0', propagationPolicy: 'Background' } }))) return;
    const left = await this.quietly({ method: 'GET', path: target });
    if (gone(left)) return;
    await this.quietly({ method: 'PATCH', path: target, headers: { 'content-type': 'application/merge-patch+json' }, body: { metadata: { finalizers: null } } });
    await this.quietly({ method: 'DELETE', path: target, query: { gracePeriodSeconds: '0', propagationPolicy: 'Background' } });
  }

  // Nothing but the API server may be running, so the namespace is finalised here.
  async removeNamespace(target) {
    await this.quietly({ method: 'DELETE', path: target });
    const left = await this.quietly({ method: 'GET', path: target });
    if (left?.status !== 200) return;
    await this.quietly({ method: 'PUT', path: `${target}/finalize`, body: { ...left.body, spec: { finalizers: [] } } });
  }
}

const describe = (error) => (error.code ? `${error.code} ${error.message}` : String(error.message ?? error));
