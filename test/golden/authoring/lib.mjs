// Helpers to write scenarios in fewer words than JSON needs. generate.mjs collects what the
// modules of this folder define and writes scenarios/*.json.

// The release scenarios are recorded from unless they name another one.
export const BASE_RELEASE = '1.37';

export const all = [];

export const TYPES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

export const AS_TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' };
export const AS_PARTIAL = { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json' };
export const AS_PARTIAL_LIST = { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json' };

export class Scenario {
  constructor(name, area, options = {}) {
    const { title, release = BASE_RELEASE, namespaces = { ns: '' }, serviceAccounts, vars, setup, cleanup, optional, alone } = options;
    Object.assign(this, { name, area, title, release, optional, alone, namespaces, serviceAccounts, vars, setup, cleanup });
    this.steps = [];
    this.stack = [this.steps];
    this.ids = new Set();
    all.push(this);
  }

  step(id, method, path, options = {}) {
    if (this.ids.has(id)) throw new Error(`${this.name}: step id ${id} used twice`);
    this.ids.add(id);
    this.stack.at(-1).push({ id, method, path, compare: 'exact', ...options });
    return this;
  }

  get(id, path, options) { return this.step(id, 'GET', path, options); }
  post(id, path, body, options) { return this.step(id, 'POST', path, { body, ...options }); }
  put(id, path, body, options) { return this.step(id, 'PUT', path, { body, ...options }); }
  del(id, path, options) { return this.step(id, 'DELETE', path, options); }

  patch(id, type, path, body, options = {}) {
    const headers = { 'content-type': TYPES[type] ?? type, ...options.headers };
    return this.step(id, 'PATCH', path, { ...options, headers, ...(typeof body === 'string' ? { rawBody: body } : { body }) });
  }

  apply(id, path, body, manager, options = {}) {
    const query = { ...(manager ? { fieldManager: manager } : {}), ...options.query };
    return this.patch(id, 'apply', path, body, { ...options, query });
  }

  // watch(id, path, {query, events, forMs, ...}, (s) => nested steps)
  watch(id, path, options, nested) {
    const { query, headers, user, note, compare, ignore, select, events, forMs, settleMs, unordered, compareClose, save, compareHeaders } = options;
    if (this.ids.has(id)) throw new Error(`${this.name}: step id ${id} used twice`);
    this.ids.add(id);
    const steps = [];
    const step = { id, method: 'GET', path, query: { watch: 'true', ...query }, headers, user, note, compare: compare ?? 'exact', ignore, select, save, compareHeaders,
      watch: { events, forMs, settleMs, unordered, compareClose }, steps };
    this.stack.at(-1).push(step);
    if (nested) {
      this.stack.push(steps);
      nested(this);
      this.stack.pop();
    }
    return this;
  }

  toJSON() {
    const { name, area, title, release, optional, alone, namespaces, serviceAccounts, vars, setup, cleanup, steps } = this;
    return { name, area, title, release, optional, alone, namespaces, serviceAccounts, vars, setup, steps, cleanup };
  }
}

export const scenario = (name, area, options) => new Scenario(name, area, options);

// Deep merge of plain objects; null removes a member.
export function merged(base, change) {
  if (change === null || typeof change !== 'object' || Array.isArray(change)) return change;
  const out = base && typeof base === 'object' && !Array.isArray(base) ? { ...base } : {};
  for (const [k, v] of Object.entries(change)) {
    if (v === null) delete out[k];
    else out[k] = merged(out[k], v);
  }
  return out;
}

export const object = (apiVersion, kind, name, rest = {}, metadata = {}) =>
  ({ apiVersion, kind, metadata: { name, ...metadata }, ...rest });

export const configMap = (name, data, metadata) => object('v1', 'ConfigMap', name, data ? { data } : {}, metadata);

export const pod = (name, spec = {}, metadata) => object('v1', 'Pod', name, {
  spec: { automountServiceAccountToken: false, containers: [{ name: 'main', image: 'registry.example/app:1' }], ...spec },
}, metadata);
