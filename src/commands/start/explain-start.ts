import { stat } from "node:fs/promises";
import path from "node:path";
import type { Config } from "../../server/config.ts";
import { StoreError } from "../../storage/store.ts";
import { Failure } from "../command.ts";
import { portOrAny } from "../local/free-port.ts";
import { probeEtcd } from "./etcd-probe.ts";

/** What made a start fail, with the flag and its value in front, and what may be done about it. */
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

/** Messages that parts of the server have, often in kube-apiserver's words, and the flag that they are about. */
const KNOWN: readonly (readonly [RegExp, (message: string, config: Config) => string, next?: string])[] = [
  [
    /is not in the list of known controllers: /,
    (message, { controllers }) => `--controllers=${controllers}: ${message}`,
    "What each of them does: binnacle controllers",
  ],
  [/^(?:enable|disable)-admission-plugins /, (message) => `--${message}`, "Those that there are: binnacle plugins"],
  [
    /admission-plugins overlapped$/,
    (message) => `--enable-admission-plugins and --disable-admission-plugins both name ${message.split(" in ", 1)[0]}`,
    "Leave each of them in one of the two.",
  ],
  [
    /^authorization-mode /,
    (message) => `--${message}`,
    "There are AlwaysAllow, AlwaysDeny, Node, RBAC and Webhook, with commas between them.",
  ],
  [/^failed to load AuthorizationConfiguration/, flagged("authorization-config"), "docs/authorization.md has one."],
  [/^failed to load authentication configuration/, flagged("authentication-config"), "docs/authentication.md has one."],
  [/^loading audit policy file/, flagged("audit-policy-file"), "docs/audit.md has one."],
  [/^token file /, flagged("token-auth-file"), 'Each line is token,user,uid,"group,group".'],
];

async function listenFailure(error: NodeJS.ErrnoException, { bindAddress, securePort, insecurePort }: Config) {
  const { code } = error;
  const { port } = error as { port?: number };
  const flag = port !== undefined && port === insecurePort && port !== securePort ? "--insecure-port" : "--secure-port";
  if (code === "EADDRINUSE") {
    const free = await nextFree(port ?? securePort, bindAddress);
    const next = `Take ${free === 0 ? "another one" : `${flag} ${free}`}, or any that is free: ${flag} 0`;
    return new Failure(
      `${flag}=${port}: another program listens there already`,
      flag === "--insecure-port" ? undefined : next,
    );
  }
  if (code === "EACCES") {
    return new Failure(
      `${flag}=${port}: this user may not listen there`,
      "Ports below 1024 are for root: take a higher one.",
    );
  }
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND" || code === "EINVAL") {
    return new Failure(
      `--bind-address=${bindAddress}: is no address of this machine`,
      "127.0.0.1 is this machine only, 0.0.0.0 all of its addresses.",
    );
  }
  return error;
}

/** The first port behind one at which nobody listens; 0 if there is none near. */
async function nextFree(port: number, host: string): Promise<number> {
  for (let next = port + 1; next <= Math.min(port + 20, 65_535); next++) {
    if ((await portOrAny(next, host)) !== 0) return next;
  }
  return 0;
}

async function storeFailure(error: StoreError, { store }: Config): Promise<Error> {
  if (store.type === "etcd") {
    const problems = await probeEtcd(store);
    const told = store.servers.map((server, at) => `${server}: ${problems[at] ?? "answers, but not as etcd does"}`);
    return new Failure(`--etcd-servers=${store.servers.join(",")}: no etcd could be reached`, told.join("; "));
  }
  if (store.type !== "sqlite") return error;
  const folder = path.dirname(path.resolve(store.file));
  const [found, parent] = await Promise.all([stat(store.file), stat(folder)].map((one) => one.catch(() => undefined)));
  const flag = `--store=sqlite:${store.file}`;
  if (!parent?.isDirectory())
    return new Failure(`${flag}: there is no folder ${folder}`, `Make it first: mkdir -p ${folder}`);
  if (found?.isDirectory()) return new Failure(`${flag}: is a folder, expected a file`);
  if (/not a database|not a Binnacle database/.test(error.message)) {
    return new Failure(
      `${flag}: is a file of something else, and is left as it is`,
      "Name a new file, or one that Binnacle made.",
    );
  }
  if (/locked|another process/.test(error.message)) {
    return new Failure(
      `${flag}: another process has it open`,
      "One file is for one server; several servers share an etcd: --etcd-servers URL",
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
    `--cert-dir=${certDir}: cannot be written to (${error.code})`,
    "Name a folder of yours; it is made if need be.",
  );
}
