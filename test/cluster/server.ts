import { generateKeyPairSync } from "node:crypto";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { type Identity, makeCa, makeIdentity } from "../../src/base/pki/make-certificate.ts";
import { printKubeconfig } from "../../src/data/kubeconfig/kubeconfig.ts";
import { type BinnacleOptions, startBinnacle } from "../support/binnacle.ts";
import { startOracle } from "../support/oracle.ts";

/** An API server with an authority of its own, by which all of a cluster's programs prove who they are. */
export interface ClusterServer {
  readonly base: string;
  /** Process id of the API server. */
  readonly pid: number;
  /** Certificate and key of the authority, which also signs certificates that are asked for. */
  readonly authorityFile: string;
  readonly authorityKeyFile: string;
  /** The key that tokens of service accounts are signed with. */
  readonly accountKeyFile: string;
  /** Writes the kubeconfig of a user with a certificate or a token, and returns its path. */
  kubeconfig(name: string, user: { commonName: string; organizations?: string[] } | { token: string }): Promise<string>;
  /** What the API server wrote last, once it has ended by itself; undefined while it runs. */
  ended(): string | undefined;
  kill(): Promise<void>;
}

/** Which API server a cluster stands on. */
export type ServerName = "binnacle" | "kube-apiserver";

/** Options of `startClusterServer`. */
export interface ClusterServerOptions extends BinnacleOptions {
  /** Runs all controllers inside the server, so that it needs no kube-controller-manager. */
  readonly ownControllers?: boolean;
  /** Runs the scheduler and simulated nodes inside the server as well. */
  readonly ownNodes?: boolean;
}

/** Range of the Pod addresses of all nodes. */
export const CLUSTER_CIDR = "10.128.0.0/9";

// With open custom objects the HorizontalPodAutoscaler controller finds an empty metrics.k8s.io where there is none.
const AS_KUBE_APISERVER = ["--custom-objects=defined"];

/**
 * Starts the server with RBAC, on an etcd of its own unless `options` names another store. It runs no loops of a controller
 * manager unless `ownControllers` is set. Its files go to `folder`; `options` are for Binnacle only.
 */
export async function startClusterServer(
  name: ServerName,
  folder: string,
  {
    store = "etcd",
    flags: more = [],
    nodeFlags = [],
    ownControllers = false,
    ownNodes = false,
  }: ClusterServerOptions = {},
): Promise<ClusterServer> {
  const now = Date.now();
  const authority = makeCa("cluster", now);
  const files = {
    authority: path.join(folder, "ca.crt"),
    authorityKey: path.join(folder, "ca.key"),
    serving: path.join(folder, "serving.crt"),
    servingKey: path.join(folder, "serving.key"),
    accountKey: path.join(folder, "sa.key"),
    proxyAuthority: path.join(folder, "front-proxy-ca.crt"),
  };
  const serving = makeIdentity(authority, { commonName: "cluster", hosts: ["127.0.0.1", "localhost"] }, "server", now);
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  await writeIdentity(authority, files.authority, files.authorityKey);
  await writeIdentity(serving, files.serving, files.servingKey);
  await writeFile(files.accountKey, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
  await writeFile(files.proxyAuthority, makeCa("front-proxy", now).certificate);
  const flags = [
    `--requestheader-client-ca-file=${files.proxyAuthority}`,
    "--requestheader-username-headers=X-Remote-User",
    "--requestheader-group-headers=X-Remote-Group",
    "--requestheader-extra-headers-prefix=X-Remote-Extra-",
    `--client-ca-file=${files.authority}`,
    `--tls-cert-file=${files.serving}`,
    `--tls-private-key-file=${files.servingKey}`,
    `--service-account-signing-key-file=${files.accountKey}`,
    `--service-account-key-file=${files.accountKey}`,
  ];
  const controllerFlags = [
    "--controllers=*",
    `--cluster-cidr=${CLUSTER_CIDR}`,
    `--cluster-signing-cert-file=${files.authority}`,
    `--cluster-signing-key-file=${files.authorityKey}`,
  ];
  const nodesFlags = ["--scheduler", "--simulated-nodes=1"];
  const parts = [...(ownControllers ? controllerFlags : []), ...(ownNodes ? nodesFlags : [])];
  const own = [...AS_KUBE_APISERVER, ...parts, ...more];
  const server =
    name === "binnacle"
      ? await startBinnacle({ store, nodeFlags, flags: [...flags, ...own] })
      : await startOracle({ flags });
  const running = "process" in server ? server.process : server;
  let end: string | undefined;
  void running.exited.then((how) => {
    end = `${how}\n${running.output()}`;
  });
  return {
    base: server.base,
    pid: running.pid,
    authorityFile: files.authority,
    authorityKeyFile: files.authorityKey,
    accountKeyFile: files.accountKey,
    async kubeconfig(user, credentials) {
      const file = path.join(folder, `${user}.kubeconfig`);
      const proof =
        "token" in credentials ? credentials : { identity: makeIdentity(authority, credentials, "client", now) };
      const access = { server: server.base, authority: authority.certificate, user: proof };
      await writeFile(file, printKubeconfig(access), { mode: 0o600 });
      return file;
    },
    ended: () => end,
    kill: () => server.kill(),
  };
}

async function writeIdentity({ certificate, key }: Identity, certificateFile: string, keyFile: string): Promise<void> {
  await writeFile(certificateFile, certificate);
  await writeFile(keyFile, key, { mode: 0o600 });
}
