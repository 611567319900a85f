import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { freePort } from "../../../test/support/ports.ts";
import { drivenEnvironment } from "../../base/util/environment.suite.ts";
import { defaultConfig } from "./config.ts";
import { type Server, startServer } from "./server.ts";

const SECRETS = "/api/v1/namespaces/default/secrets";
const JSON_BODY = { "content-type": "application/json" };

describe("metrics", () => {
  let folder: string;
  let server: Server;
  let base: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-metrics-"));
    const config = { ...defaultConfig, certDir: folder, securePort: 0, insecurePort: await freePort() };
    server = await startServer({ ...config, shutdownGraceMs: 0 }, drivenEnvironment());
    base = server.insecureUrl ?? "";
  });
  after(async () => {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });

  const ask = async (target: string, init?: RequestInit): Promise<Response> => {
    const response = await fetch(base + target, init);
    await response.bytes();
    return response;
  };
  const scrape = async (target = "/metrics"): Promise<string> => (await fetch(base + target)).text();
  /** The value of a series; the labels stand for a part of its own. Undefined: there is none. */
  const read = (text: string, name: string, ...labels: string[]): number | undefined => {
    const lines = text.split("\n").filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
    const found = lines.filter((line) => labels.every((label) => new RegExp(`[{,]${label}[,}]`).test(line)));
    assert.ok(found.length < 2, `${name} ${labels.join()} is not one: ${found.join("; ")}`);
    return found[0] === undefined ? undefined : Number(found[0].slice(found[0].lastIndexOf(" ")));
  };
  const secrets = (verb: string, ...more: string[]) => [`verb="${verb}"`, 'resource="secrets"', ...more];

  it("answer with kube-apiserver's headers, to every method, at exactly two paths", async () => {
    for (const [target, method] of [
      ["/metrics", "GET"],
      ["/metrics", "POST"],
      ["/metrics/slis", "GET"],
    ] as const) {
      const { status, headers } = await ask(target, { method });
      assert.equal(status, 200);
      assert.equal(headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8; escaping=underscores");
      assert.match(headers.get("process-start-time-unix") ?? "", /^\d+$/);
    }
    for (const target of ["/metrics/", "/metrics/other", "/metrics/slis/"]) {
      assert.equal((await ask(target)).status, 404, target);
    }
  });

  it("count requests by what they did and how they ended", async () => {
    const object = (name: string) => JSON.stringify({ metadata: { name } });
    await ask(SECRETS, { method: "POST", headers: JSON_BODY, body: object("a") });
    await ask(`${SECRETS}?dryRun=All`, { method: "POST", headers: JSON_BODY, body: object("b") });
    await ask(`${SECRETS}?dryRun=a&dryRun=b`, { method: "POST", headers: JSON_BODY, body: object("c") });
    await ask(`${SECRETS}/a`);
    await ask(`${SECRETS}/a`);
    await ask(`${SECRETS}/none`);
    await ask(SECRETS);
    await ask("/api/v1/secrets");
    const apply = { "content-type": "application/apply-patch+yaml" };
    const body = JSON.stringify({ apiVersion: "v1", kind: "Secret" });
    await ask(`${SECRETS}/a?fieldManager=x`, { method: "PATCH", headers: apply, body });
    const merge = { "content-type": "application/merge-patch+json" };
    await ask(`${SECRETS}/a`, { method: "PATCH", headers: merge, body: "{}" });
    await ask(`${SECRETS}/a`, { method: "DELETE" });
    await ask(SECRETS, { method: "DELETE" });
    const text = await scrape();
    const total = (...labels: string[]) => read(text, "apiserver_request_total", ...labels);
    const own = (verb: string, ...more: string[]) => total(...secrets(verb, 'scope="resource"', ...more));
    assert.equal(own("POST", 'code="201"', 'dry_run=""'), 1);
    assert.equal(own("POST", 'code="201"', 'dry_run="All"'), 1);
    assert.equal(own("POST", 'code="422"', 'dry_run="invalid"'), 1);
    assert.equal(own("GET", 'code="200"'), 2);
    assert.equal(own("GET", 'code="404"'), 1);
    assert.equal(own("APPLY", 'code="200"'), 1);
    assert.equal(own("PATCH", 'code="200"'), 1);
    assert.equal(own("DELETE", 'code="200"'), 1);
    assert.equal(total(...secrets("LIST", 'scope="namespace"')), 1);
    assert.equal(total(...secrets("LIST", 'scope="cluster"')), 1);
    assert.equal(total(...secrets("DELETECOLLECTION", 'scope="namespace"')), 1);
    for (const name of ["request_duration_seconds", "request_sli_duration_seconds", "response_sizes"]) {
      assert.equal(read(text, `apiserver_${name}_count`, ...secrets("GET")), 3, name);
      assert.equal(read(text, `apiserver_${name}_bucket`, ...secrets("GET", 'le="\\+Inf"')), 3, name);
    }
    assert.equal(read(text, "apiserver_response_sizes_count", ...secrets("PATCH")), undefined);
    assert.ok((read(text, "apiserver_response_sizes_sum", ...secrets("GET")) ?? 0) > 300);
    assert.ok((read(text, "apiserver_current_inflight_requests", 'request_kind="readOnly"') ?? 0) >= 1);
  });

  it("count watches while they run, and when they have ended", async () => {
    const stop = new AbortController();
    const watch = await fetch(`${base}${SECRETS}?watch=1`, { signal: stop.signal });
    const running = async () => read(await scrape(), "apiserver_longrunning_requests", ...secrets("WATCH"));
    assert.equal(await running(), 1);
    assert.equal(read(await scrape(), "apiserver_request_total", ...secrets("WATCH")), undefined);
    stop.abort();
    await assert.rejects(watch.text());
    while ((await running()) !== 0);
    const text = await scrape();
    assert.equal(read(text, "apiserver_request_total", ...secrets("WATCH", 'code="200"')), 1);
    assert.equal(read(text, "apiserver_request_sli_duration_seconds_count", ...secrets("WATCH")), undefined);
  });

  it("have no label that a client can choose", async () => {
    await ask("/livez");
    await ask("/nothing", { method: "POST" });
    const seriesOf = (text: string) => text.split("\n").filter((line) => line.startsWith("apiserver_request_total"));
    const before = seriesOf(await scrape()).length;
    const method = "PROPFIND";
    const guesses = Array.from({ length: 20 }, (_, index) => index);
    for (const index of guesses) {
      await ask(`/guess-${index}`);
      await ask(`/livez/guess-${index}`);
      await ask(`/api/v1/guess-${index}`);
      await ask(`/apis/guess-${index}/v1/pods`);
      await ask(`/apis/apps/guess-${index}/deployments`);
      await ask(`${SECRETS}/guess/guess-${index}`);
      await ask(`${SECRETS}/guess/constructor`);
      await ask(`/guess-${index}`, { method });
    }
    const text = await scrape();
    assert.doesNotMatch(text, /guess|constructor|PROPFIND/);
    assert.ok(seriesOf(text).length <= before + 3, "GET of other paths with 404, and other methods");
    const other = ['resource=""', 'subresource=""', 'code="404"'];
    assert.ok((read(text, "apiserver_request_total", 'verb="GET"', ...other) ?? 0) >= 7 * guesses.length);
    assert.equal(read(text, "apiserver_request_total", 'verb="other"', ...other), guesses.length);
    assert.equal(read(text, "apiserver_request_total", 'subresource="/livez"', 'component=""'), 1);
  });

  it("count who is refused", async () => {
    const { port } = new URL(server.url);
    const { request } = await import("node:https");
    const code = await new Promise((resolve, reject) => {
      const sent = request({ port, path: "/api/v1/nodes", rejectUnauthorized: false }, (response) => {
        response.resume().on("end", () => resolve(response.statusCode));
      });
      sent.on("error", reject).end();
    });
    assert.equal(code, 403);
    assert.equal(read(await scrape(), "apiserver_request_total", 'resource="nodes"', 'code="403"'), 1);
  });

  it("tell what admission, lists, watches and the store did", async () => {
    const QUOTAS = "/api/v1/namespaces/default/resourcequotas";
    const create = (name: string) => {
      const body = JSON.stringify({ metadata: { name, labels: { name } } });
      return ask(QUOTAS, { method: "POST", headers: JSON_BODY, body });
    };
    const stop = new AbortController();
    const watch = await fetch(`${base}${QUOTAS}?watch=1`, { signal: stop.signal });
    const reader = watch.body?.getReader();
    for (const name of ["one", "two", "two"]) await create(name);
    const missing = { method: "POST", headers: JSON_BODY, body: JSON.stringify({ metadata: { name: "x" } }) };
    assert.equal((await ask("/api/v1/namespaces/none/resourcequotas", missing)).status, 404);
    let seen = 0;
    for (let text = ""; text.split("\n").length < 3; seen = text.length) {
      text += new TextDecoder().decode((await reader?.read())?.value);
    }
    stop.abort();
    await ask(QUOTAS);
    await ask(`${QUOTAS}?labelSelector=name=one`);
    const text = await scrape();
    const kind = ['group=""', 'resource="resourcequotas"'];
    const one = (name: string, ...labels: string[]) => read(text, name, ...labels);
    assert.equal(one("apiserver_watch_events_total", ...kind, 'version="v1"'), 2);
    assert.equal(one("apiserver_watch_events_sizes_count", ...kind), 2);
    assert.equal(one("apiserver_watch_events_sizes_sum", ...kind), seen);
    assert.equal(one("apiserver_watch_events_sizes_bucket", ...kind, 'le="1024"'), 2);
    const listed = (what: string) => one(`apiserver_storage_list_${what}`, ...kind, 'storage="watchcache"');
    assert.deepEqual(
      ["total", "fetched_objects_total", "evaluated_objects_total", "returned_objects_total"].map(listed),
      [2, 4, 2, 3],
    );
    assert.equal(one("apiserver_resource_objects", ...kind), 2);
    assert.equal(one("apiserver_resource_objects", 'resource="services"'), 1);
    // The third was refused by the store, which is no failure.
    assert.equal(one("etcd_requests_total", ...kind, 'operation="create"'), 3);
    assert.equal(one("etcd_request_duration_seconds_count", ...kind, 'operation="create"'), 3);
    assert.equal(one("etcd_request_errors_total", ...kind), undefined);
    const lifecycle = ['name="NamespaceLifecycle"', 'operation="CREATE"', 'type="admit"'];
    const PLUGIN = "apiserver_admission_controller_admission_duration_seconds_count";
    assert.equal(one(PLUGIN, ...lifecycle, 'rejected="true"'), 1);
    assert.ok((one(PLUGIN, ...lifecycle, 'rejected="false"') ?? 0) >= 3);
    const STEP = "apiserver_admission_step_admission_duration_seconds_count";
    assert.equal(one(STEP, 'operation="CREATE"', 'type="admit"', 'rejected="true"'), 1);
    assert.ok((one(STEP, 'operation="CREATE"', 'type="validate"', 'rejected="false"') ?? 0) >= 2);
  });

  it("tell which release is served, which features are on, and how full the history is", async () => {
    const text = await scrape();
    assert.equal(read(text, "kubernetes_build_info", 'major="1"', 'minor="37"', 'git_version="v1.37.1\\+binnacle"'), 1);
    assert.equal(read(text, "kubernetes_feature_enabled", 'name="ConstrainedImpersonation"', 'stage="BETA"'), 1);
    assert.equal(read(text, "kubernetes_feature_enabled", 'name="ContainerStopSignals"', 'stage="ALPHA"'), 0);
    assert.ok((read(text, "binnacle_history_events") ?? 0) > 10);
    assert.ok((read(text, "binnacle_history_bytes_limit") ?? 0) > (read(text, "binnacle_history_bytes") ?? 0));
    assert.ok((read(text, "binnacle_store_revision") ?? 0) > 10);
  });

  it("tell how health checks end", async () => {
    await ask("/readyz/ping");
    const text = await scrape("/metrics/slis");
    assert.equal(read(text, "kubernetes_healthcheck", 'name="ping"', 'type="readyz"'), 1);
    assert.equal(read(text, "kubernetes_healthchecks_total", 'name="ping"', 'type="readyz"', 'status="success"'), 1);
    assert.ok(read(text, "process_start_time_seconds"));
  });

  it("have everything that the dashboard shows", async () => {
    const stop = new AbortController();
    await fetch(`${base}${SECRETS}?watch=1`, { signal: stop.signal });
    await ask("/readyz");
    const known = new Set(
      `${await scrape()}${await scrape("/metrics/slis")}`
        .split("\n")
        .filter((line) => !line.startsWith("#"))
        .map((line) => line.split(/[{ ]/, 1)[0]),
    );
    stop.abort();
    const file = path.join(import.meta.dirname, "../../../docs/dashboard.json");
    const { panels } = JSON.parse(await readFile(file, "utf8")) as { panels: { targets: { expr: string }[] }[] };
    const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    const used = expressions.flatMap(
      (expr) => expr.match(/\b(?:apiserver|binnacle|etcd|process|kubernetes)_\w+/g) ?? [],
    );
    assert.ok(used.length >= expressions.length && used.length >= 10);
    assert.deepEqual(
      used.filter((name) => !known.has(name)),
      [],
    );
  });

  it("begin anew when they are deleted", async () => {
    await ask(SECRETS);
    const response = await fetch(`${base}/metrics`, { method: "DELETE" });
    assert.equal(await response.text(), "metrics reset\n");
    assert.equal(read(await scrape(), "apiserver_request_total", ...secrets("LIST", 'scope="namespace"')), 0);
  });
});
