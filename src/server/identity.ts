import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { UserInfo } from "../api/user-info.ts";
import { parseTokenFile, type StaticToken } from "../auth/token-file.ts";
import {
  type AdminCertificates,
  ensureAdmin,
  ensureCertificates,
  isExpiring,
  makeAdmin,
  makeCertificates,
  makeServing,
} from "../http/certificates.ts";
import { whileLocked } from "../http/folder-lock.ts";
import { printKubeconfig } from "../http/kubeconfig.ts";
import { chooseKubeconfigFile } from "../http/kubeconfig-file.ts";
import { writeWhole } from "../http/private-file.ts";
import type { Identity as Pair } from "../http/x509.ts";
import type { Log } from "../lib/environment.ts";
import type { RefreshServing, ServingPair } from "./certificate-renewal.ts";
import type { Config } from "./config.ts";

/** By what the server is known to its clients, and they to it. */
export interface Identity {
  readonly tls: ServingPair;
  /** The serving certificate as it is to be now: what is configured is read again, what is ours renewed when it is time. */
  readonly refreshServing: RefreshServing;
  /** The authority that clients are to trust, as PEM. */
  readonly authority: string;
  /** The authority that signed the administrator's certificate, as PEM. Absent: there is none with `--client-ca-file`. */
  readonly ownAuthority: string | undefined;
  /** Those of `--token-auth-file`. */
  readonly tokens: readonly StaticToken[];
  readonly admin: StaticToken;
  /** The administrator's kubeconfig for a server at this address. */
  kubeconfig(url: string): string;
  /** Writes it once the address is known, and resolves to where. Undefined: nothing is written without a folder. */
  saveKubeconfig(url: string): Promise<string | undefined>;
}

/** Whom the administrator's token is for. */
export const ADMINISTRATOR: UserInfo = { name: "kubernetes-admin", groups: ["system:masters", "system:authenticated"] };

/** Reads what is configured and makes the rest, once: a serving certificate, an administrator's token. */
export async function prepareIdentity(config: Config, log: Log): Promise<Identity> {
  const { certDir } = config;
  const tokens = await listedTokens(config.tokenAuthFile, log);
  const folder = certDir === undefined ? inMemory(config) : inFolder(config, certDir, log);
  const { serving, adminPair, token } = await folder.prepare();
  const { certificate, key } = serving;
  const authority = await publishedAuthority(config, serving);
  let admin = adminPair;
  const kubeconfig = (url: string): string => {
    const user = admin ? { identity: admin.admin } : { token };
    return printKubeconfig({ server: url, authority, user });
  };
  let saved: { readonly file: string; readonly url: string } | undefined;
  return {
    tls: { certificate, key },
    async refreshServing(nowMs) {
      const next = await folder.refreshAdmin(admin, nowMs);
      const isNew = next?.admin.certificate !== admin?.admin.certificate;
      admin = next;
      if (isNew && saved) await writeWhole(saved.file, kubeconfig(saved.url));
      return folder.refreshServing(serving, nowMs);
    },
    authority,
    ownAuthority: admin?.authority.certificate,
    tokens,
    admin: { token, user: ADMINISTRATOR },
    kubeconfig,
    async saveKubeconfig(url) {
      if (certDir === undefined) return undefined;
      saved = await whileLocked(certDir, async () => {
        const file = await chooseKubeconfigFile(certDir, url);
        await writeWhole(file, kubeconfig(url));
        return { file, url };
      });
      return saved.file;
    },
  };
}

/** Where certificates and the administrator's token come from. */
interface Secrets {
  prepare(): Promise<{ serving: Serving; adminPair: AdminCertificates | undefined; token: string }>;
  /** What the administrator's certificate is to be now. There is none with `--client-ca-file`, which may not know us. */
  refreshAdmin(known: AdminCertificates | undefined, nowMs: number): Promise<AdminCertificates | undefined>;
  refreshServing(first: Serving, nowMs: number): Promise<ServingPair>;
}

/** The certificate to serve with, and the authority that clients are to trust for it, all as PEM. */
interface Serving {
  readonly certificate: string;
  readonly key: string;
  readonly authority: string;
  /** Whether it is ours to renew. */
  readonly isOwn: boolean;
}

/** What is made lives in a folder, and is found there again. */
function inFolder(config: Config, certDir: string, log: Log): Secrets {
  const hasAdmin = config.clientCaFile === undefined;
  let latest: Serving | undefined;
  const servingCertificate = async (now?: number): Promise<Serving> => {
    const configured = await configuredCertificate(config);
    if (configured) return configured;
    const { authority, serving, isForeign } = await ensureCertificates(certDir, { ...hostOptions(config), now });
    const trusted = isForeign ? serving : authority;
    return { ...serving, authority: trusted.certificate, isOwn: !isForeign };
  };
  return {
    prepare: () =>
      whileLocked(certDir, async () => ({
        serving: await servingCertificate(),
        adminPair: hasAdmin ? await ensureAdmin(certDir, Date.now()) : undefined,
        token: await ensureAdminToken(path.join(certDir, "admin-token"), log),
      })),
    async refreshAdmin(known, nowMs) {
      if (known === undefined || !isExpiring(known.admin.certificate, nowMs)) return known;
      return whileLocked(certDir, () => ensureAdmin(certDir, nowMs));
    },
    // Files that are configured or were there already may change at any time; those that we made only when they are about to expire.
    async refreshServing(first, nowMs) {
      latest ??= first;
      if (latest.isOwn && !isExpiring(latest.certificate, nowMs)) return latest;
      const next = first.isOwn
        ? await whileLocked(certDir, () => servingCertificate(nowMs))
        : await servingCertificate(nowMs);
      // Clients trust the authority that they were given. A new one, as after a loss of the files, takes a restart.
      if (first.isOwn && next.authority !== first.authority) throw new Error("the authority is new");
      latest = next;
      return next;
    },
  };
}

/** What is made is kept nowhere, and ends with the process. */
function inMemory(config: Config): Secrets {
  let made: { authority: Pair; serving: Pair } | undefined;
  return {
    async prepare() {
      const configured = await configuredCertificate(config);
      const { authority, admin, serving } = makeCertificates(hostOptions(config));
      made = { authority, serving };
      return {
        serving: configured ?? { ...serving, authority: authority.certificate, isOwn: true },
        adminPair: config.clientCaFile === undefined ? { authority, admin } : undefined,
        token: newToken(),
      };
    },
    async refreshAdmin(known, nowMs) {
      if (known === undefined || !isExpiring(known.admin.certificate, nowMs)) return known;
      return { authority: known.authority, admin: makeAdmin(known.authority, nowMs) };
    },
    async refreshServing(first, nowMs) {
      if (!first.isOwn || made === undefined) return (await configuredCertificate(config)) ?? first;
      if (isExpiring(made.serving.certificate, nowMs)) {
        made = { ...made, serving: makeServing(made.authority, hostOptions(config), nowMs) };
      }
      return made.serving;
    },
  };
}

const hostOptions = ({ bindAddress, serviceClusterIpRange }: Config) => ({
  bindAddress,
  serviceRange: serviceClusterIpRange,
});

async function configuredCertificate({ tlsCertFile, tlsPrivateKeyFile }: Config): Promise<Serving | undefined> {
  if (tlsCertFile !== undefined && tlsPrivateKeyFile !== undefined) {
    const [certificate, key] = await Promise.all([readFile(tlsCertFile, "utf8"), readFile(tlsPrivateKeyFile, "utf8")]);
    return { certificate, key, authority: certificate, isOwn: false };
  }
  if (tlsCertFile !== undefined || tlsPrivateKeyFile !== undefined) {
    throw new Error("--tls-cert-file and --tls-private-key-file are needed together");
  }
  return undefined;
}

/**
 * What clients are told to trust. Compat: `--root-ca-file` of kube-controller-manager. Replicas have certificates of their
 * own, so that without it each would publish another one.
 */
async function publishedAuthority({ rootCaFile }: Config, { authority, isOwn }: Serving): Promise<string> {
  if (rootCaFile === undefined) return authority;
  if (isOwn) throw new Error("--root-ca-file is the authority of --tls-cert-file, which is missing");
  return readFile(rootCaFile, "utf8");
}

async function listedTokens(file: string | undefined, log: Log): Promise<StaticToken[]> {
  if (file === undefined) return [];
  return parseTokenFile(await readFile(file, "utf8"), file, (text) => log.warn(text));
}

const newToken = (): string => randomBytes(24).toString("base64url");

/** The token that the file holds. A missing or empty one, such as a full disk once left behind, is written anew. */
async function ensureAdminToken(file: string, log: Log): Promise<string> {
  const known = await readFile(file, "utf8").then(
    (text) => text.trim(),
    (error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
    },
  );
  if (known) {
    // A bearer token with anything else in it could not be sent.
    if (!/^[!-~]+$/.test(known)) throw new Error(`${file} must hold one token of printable ASCII characters`);
    return known;
  }
  if (known === "") log.warn("the file of the administrator's token was empty; there is a new token in it", { file });
  const token = newToken();
  await writeWhole(file, `${token}\n`);
  return token;
}
