import { stat } from "node:fs/promises";
import path from "node:path";
import { StoreError } from "../../../storage/store.ts";
import type { Config } from "../../server/config.ts";
import { Failure } from "../command.ts";
import { portOrAny } from "../local/free-port.ts";
import { probeEtcd } from "./etcd-probe.ts";

/** Converts the error of a failed start: adds the flag, its value, and what to do. */
export async function explainStart(error: unknown, config: Config): Promise<unknown> {
  if (!(error instanceof Error) || error instanceof Failure) return error;
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall === "listen" || syscall === "getaddrinfo") return listenFailure(error, config);
  if (error instanceof StoreError) return storeFailure(error, config);
  if (code === "EEXIST" || code === "ENOTDIR" || code === "EACCES" || code === "EROFS" || code === "EISDIR") {
    return folderFailure(error, config);
  }
  const [, reword, next] = KNOWN.find(([form]) => form.test(error.message)) ?? [];
  return reword === undefined ? error : new Failure(reword(error.message, config), next);
}

const flagged = (flag: string) => (message: string) => `--${flag}: ${message}`;

/** Messages of parts of the server, often kube-apiserver's, and the flags that cause them. */
const KNOWN: readonly (readonly [RegExp, (message: string, config: Config) => string, next?: string])[] = [
  [
    /is not in the list of known controllers/,
    (message, { controllers }) => `--controllers=${controllers}: ${message}`,
    "List the controllers: binnacle controllers",
  ],
  [
    /^enable-admission-plugins plugin .* is not available$/,
    (message) =>
      message.replace(
        /^enable-admission-plugins (.*) is not available$/,
        "--enable-admission-plugins: $1 exists in kube-apiserver but not in Binnacle",
      ),
    "Remove it, or use a policy or webhook. List the plugins: binnacle plugins",
  ],
  [
    /^(?:enable|disable)-admission-plugins /,
    (message) => `--${message.replace(" ", ": ")}`,
    "List the plugins: binnacle plugins",
  ],
  [
    /admission-plugins overlapped$/,
    (message) =>
      `--enable-admission-plugins and --disable-admission-plugins both contain ${message.split(" in ", 1)[0]}`,
    "Remove it from one of the two flags.",
  ],
  [
    /^authorization-mode /,
    (message) => `--${message}`,
    "Valid modes: AlwaysAllow, AlwaysDeny, Node, RBAC, Webhook; separate them with commas.",
  ],
  [
    /^loading the scheduler configuration failed/,
    flagged("scheduler-config"),
    "docs/reference/scheduler.md has an example.",
  ],
  [
    /^failed to load AuthorizationConfiguration/,
    flagged("authorization-config"),
    "docs/authorization.md has an example.",
  ],
  [
    /^failed to load authentication configuration/,
    flagged("authentication-config"),
    "docs/authentication.md has an example.",
  ],
  [/^loading audit policy file/, flagged("audit-policy-file"), "docs/audit.md has an example."],
  [/^token file /, flagged("token-auth-file"), 'Format of each line: token,user,uid,"group,group"'],
];

async function listenFailure(error: NodeJS.ErrnoException, { bindAddress, securePort, insecurePort }: Config) {
  const { code } = error;
  const { port } = error as { port?: number };
  const flag = port !== undefined && port === insecurePort && port !== securePort ? "--insecure-port" : "--secure-port";
  if (code === "EADDRINUSE") {
    const free = await nextFree(port ?? securePort, bindAddress);
    const next =
      flag === "--insecure-port"
        ? "Use another port, or omit --insecure-port."
        : `Use ${free === 0 ? "another port" : `${flag} ${free}`}, or ${flag} 0 for any free port.`;
    return new Failure(`${flag}=${port}: the port is already in use`, next);
  }
  if (code === "EACCES") {
    return new Failure(`${flag}=${port}: permission denied`, "Ports below 1024 require root. Use a higher port.");
  }
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND" || code === "EINVAL") {
    return new Failure(
      `--bind-address=${bindAddress}: not an address of this machine`,
      "Use 127.0.0.1 for local clients only, or 0.0.0.0 for all addresses.",
    );
  }
  return error;
}

/** The next free port; 0 if none of the next 20 is free. */
async function nextFree(port: number, host: string): Promise<number> {
  for (let next = port + 1; next <= Math.min(port + 20, 65_535); next++) {
    if ((await portOrAny(next, host)) !== 0) return next;
  }
  return 0;
}

async function storeFailure(error: StoreError, { store }: Config): Promise<Error> {
  if (store.type === "etcd") {
    const problems = await probeEtcd(store);
    const causes = store.servers.map(
      (server, at) => `${server}: ${problems[at] ?? `reachable, but the request failed: ${error.message}`}`,
    );
    const [what, remedy] = problems.includes(undefined)
      ? ["cannot use etcd", "Check the health of etcd."]
      : ["cannot connect to etcd", "Start etcd or correct the URL."];
    return new Failure(
      `--etcd-servers=${store.servers.join(",")}: ${what} (${causes.join("; ")})`,
      `${remedy} To run without etcd, use --store sqlite:FILE.`,
    );
  }
  if (store.type !== "sqlite") return error;
  const folder = path.dirname(path.resolve(store.file));
  const [found, parent] = await Promise.all([stat(store.file), stat(folder)].map((one) => one.catch(() => undefined)));
  const flag = `--store=sqlite:${store.file}`;
  if (!parent?.isDirectory())
    return new Failure(`${flag}: the folder ${folder} does not exist`, `Create it: mkdir -p ${folder}`);
  if (found?.isDirectory()) return new Failure(`${flag}: is a folder, expected a file`);
  if (/not a database|not a Binnacle database/.test(error.message)) {
    return new Failure(
      `${flag}: not a Binnacle database; the file was not changed`,
      "Use a new file, or one that Binnacle created.",
    );
  }
  if (/locked|another process/.test(error.message)) {
    return new Failure(
      `${flag}: another process uses this file`,
      "Only one server can use a file. To run several servers, use --etcd-servers URL.",
    );
  }
  return new Failure(`${flag}: ${error.message}`);
}

async function folderFailure(error: NodeJS.ErrnoException, { certDir }: Config): Promise<Error> {
  if (certDir === undefined) return error;
  const found = await stat(certDir).catch(() => undefined);
  if (found && !found.isDirectory()) return new Failure(`--cert-dir=${certDir}: is a file, expected a folder`);
  const isBelow = (error.path ?? "").startsWith(path.resolve(certDir)) || error.path === certDir;
  if (!isBelow && found) return error;
  return new Failure(
    `--cert-dir=${certDir}: is not writable (${error.code})`,
    "Set a writable folder; it is created if it does not exist.",
  );
}
