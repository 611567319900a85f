import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { startEtcd } from "./etcd.ts";
import { freePort } from "./ports.ts";
import { startProcess, waitUntilReady } from "./process.ts";
import { requireTool } from "./tools.ts";

/** Bearer tokens of the two users in golden scenarios: admin may do everything, alice nothing. */
export const tokens = { admin: "admintoken", alice: "alicetoken" } as const;

/** A kube-apiserver with its own etcd, both on loopback. */
export interface Oracle {
  /** Address of the API, `https://127.0.0.1:PORT`. */
  readonly base: string;
  /** Process id of kube-apiserver. */
  readonly pid: number;
  readonly tokens: typeof tokens;
  readonly etcdEndpoint: string;
  /** The server's self-signed certificate, which a client may use as CA. */
  readonly certificateFile: string;
  /** Resolves when kube-apiserver has ended, to a sentence about it and the end of its output. */
  readonly exited: Promise<string>;
  /** The end of kube-apiserver's output. */
  output(): string;
  /** Stops both and removes their files. */
  kill(): Promise<void>;
}

/** Differences from the configuration of the golden recordings. */
export interface OracleOptions {
  /** Use this etcd, which the caller owns, instead of starting one. */
  readonly etcdEndpoint?: string;
  /** Format of values in etcd. Default: `application/vnd.kubernetes.protobuf`. */
  readonly storageMediaType?: "application/json" | "application/vnd.kubernetes.protobuf";
  /** Flags added at the end. */
  readonly flags?: readonly string[];
}

// The gates with which the golden corpus was recorded from release 1.37.
const featureGates = [
  "GenericWorkload",
  "TopologyAwareWorkloadScheduling",
  "DRAWorkloadResourceClaims",
  "CoordinatedLeaderElection",
  "ShardedListAndWatch",
];

/** Starts kube-apiserver as for the golden recordings, and resolves when it is ready. */
export async function startOracle(options: OracleOptions = {}): Promise<Oracle> {
  const directory = await mkdtemp(path.join(tmpdir(), "binnacle-oracle-"));
  const cleanUps = [() => rm(directory, { recursive: true, force: true })];
  const kill = async () => {
    // The API server first: without its etcd it would take long to stop.
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  };
  try {
    let { etcdEndpoint } = options;
    if (etcdEndpoint === undefined) {
      const etcd = await startEtcd();
      cleanUps.push(() => etcd.stop());
      etcdEndpoint = etcd.endpoints[0] ?? "";
    }
    const port = await freePort();
    const base = `https://127.0.0.1:${port}`;
    const flags = await serverFlags(directory, etcdEndpoint, options);
    const server = await startProcess(requireTool("kube-apiserver"), [`--secure-port=${port}`, ...flags]);
    cleanUps.push(() => server.kill());
    await waitUntilReady(server, base, { token: tokens.admin });
    const exited = server.exited.then((how) => `${how}\n${server.output()}`);
    const certificateFile = path.join(directory, "apiserver.crt");
    const { pid, output } = server;
    return { base, pid, tokens, etcdEndpoint, certificateFile, exited, output, kill };
  } catch (error) {
    await kill();
    throw error;
  }
}

/** Writes the token file that both kube-apiserver and Binnacle read, and returns its path. */
export async function writeTokenFile(directory: string): Promise<string> {
  const file = path.join(directory, "tokens.csv");
  await writeFile(file, `${tokens.admin},admin,admin-uid,"system:masters"\n${tokens.alice},alice,alice-uid,"dev"\n`);
  return file;
}

async function serverFlags(directory: string, etcdEndpoint: string, options: OracleOptions): Promise<string[]> {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const publicFile = path.join(directory, "sa.pub");
  const privateFile = path.join(directory, "sa.key");
  await writeFile(publicFile, publicKey);
  await writeFile(privateFile, privateKey, { mode: 0o600 });
  return [
    `--etcd-servers=${etcdEndpoint}`,
    "--bind-address=127.0.0.1",
    `--cert-dir=${directory}`,
    `--token-auth-file=${await writeTokenFile(directory)}`,
    ...(options.flags?.some((flag) => flag.startsWith("--authorization-config=")) ? [] : ["--authorization-mode=RBAC"]),
    "--service-cluster-ip-range=10.96.0.0/16",
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${publicFile}`,
    `--service-account-signing-key-file=${privateFile}`,
    "--allow-privileged=true",
    "--runtime-config=api/all=true",
    `--feature-gates=${featureGates.map((gate) => `${gate}=true`).join(",")}`,
    ...(options.storageMediaType ? [`--storage-media-type=${options.storageMediaType}`] : []),
    ...(options.flags ?? []),
  ];
}
