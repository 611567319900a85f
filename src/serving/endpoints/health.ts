import type { Call } from "../../base/api/call.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import type { Clock } from "../../base/util/clock.ts";

/** A health check. */
export interface HealthCheck {
  readonly name: string;
  /** Rejects if the check fails. */
  check(): Promise<void>;
}

/** Always succeeds: reaching the endpoint proves that the server responds. */
export const PING: HealthCheck = { name: "ping", check: async () => {} };

/**
 * A check that takes longer has failed. Compat: `--etcd-healthcheck-timeout` and `--etcd-readycheck-timeout` are 2 s;
 * the response is sent before that.
 */
const CHECK_TIMEOUT_MS = 1900;

/** Receives the result of each check, for metrics. */
export type ObserveCheck = (endpoint: string, check: string, isWell: boolean) => void;

const HEADERS = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };

function plain(code: number, body: string): ApiReply {
  return { type: "raw", code, headers: HEADERS, body };
}

/**
 * Serves `/<endpoint>` with the result of all checks and `/<endpoint>/<check>` with that of one. Endpoints are the keys
 * of `endpoints`. Returns undefined for other paths. Each check may take about 2 s at most.
 */
export function health(
  endpoints: Readonly<Record<string, readonly HealthCheck[]>>,
  clock: Pick<Clock, "setTimer">,
  observe: ObserveCheck = () => {},
): (call: Call) => Promise<ApiReply | undefined> {
  return async ({ request }) => {
    const [, endpoint = "", ...rest] = request.path.split("/");
    const checks = Object.hasOwn(endpoints, endpoint) ? endpoints[endpoint] : undefined;
    if (checks === undefined) return undefined;
    const run = async (check: HealthCheck): Promise<void> => {
      let isWell = false;
      try {
        await runInTime(check, clock);
        isWell = true;
      } finally {
        observe(endpoint, check.name, isWell);
      }
    };
    if (rest.length === 0) return runAll(endpoint, checks, request.query, run);
    // Check names may contain slashes.
    const check = checks.find((one) => one.name === rest.join("/"));
    return check && runOne(check, run);
  };
}

/** The paths of a set of health endpoints. */
export function healthPaths(endpoints: Readonly<Record<string, readonly HealthCheck[]>>): string[] {
  return Object.entries(endpoints).flatMap(([endpoint, checks]) => [
    `/${endpoint}`,
    ...checks.map((check) => `/${endpoint}/${check.name}`),
  ]);
}

type RunCheck = (check: HealthCheck) => Promise<void>;

async function runInTime(check: HealthCheck, clock: Pick<Clock, "setTimer">): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = clock.setTimer(CHECK_TIMEOUT_MS, () => late.reject(new Error("context deadline exceeded")));
  try {
    await Promise.race([check.check(), late.promise]);
  } finally {
    timer.close();
  }
}

async function runOne(check: HealthCheck, run: RunCheck): Promise<ApiReply> {
  try {
    await run(check);
    return plain(200, "ok");
  } catch (error) {
    return plain(500, `internal server error: ${error instanceof Error ? error.message : String(error)}\n`);
  }
}

async function runAll(
  endpoint: string,
  checks: readonly HealthCheck[],
  query: URLSearchParams,
  run: RunCheck,
): Promise<ApiReply> {
  const excluded = new Set(query.getAll("exclude"));
  const unknown = new Set(excluded);
  const lines = await Promise.all(
    checks.map(async (check) => {
      if (unknown.delete(check.name)) return `[+]${check.name} excluded: ok\n`;
      try {
        await run(check);
        return `[+]${check.name} ok\n`;
      } catch {
        return `[-]${check.name} failed: reason withheld\n`;
      }
    }),
  );
  if (unknown.size > 0) {
    const names = [...unknown].map((name) => JSON.stringify(name)).join(",");
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}\n`);
  }
  const report = lines.join("");
  if (lines.some((line) => line.startsWith("[-]"))) return plain(500, `${report}${endpoint} check failed\n`);
  return plain(200, query.has("verbose") ? `${report}${endpoint} check passed\n` : "ok");
}
