import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { freePorts } from "../support/ports.ts";

/** A host of the cluster: a loopback address, and a folder that stands for its file system. */
export interface Host {
  /** Its name in docs/production.md. */
  readonly name: string;
  readonly address: string;
  readonly root: string;
}

const root = path.join(import.meta.dirname, "..", "..");
const NAMES = ["a.example.com", "b.example.com", "c.example.com"];
const API = "api.example.com";

/** The hosts of docs/production.md, on loopback addresses of this machine, with ports that were free a moment ago. */
export class Site {
  readonly folder: string;
  readonly hosts: readonly Host[];
  /** Where the balancer listens. */
  readonly apiAddress = "127.0.0.10";
  /** What stands for 6443, 2379 and 2380. */
  readonly ports: { readonly api: number; readonly client: number; readonly peer: number };

  private constructor(folder: string, ports: Site["ports"]) {
    this.folder = folder;
    this.ports = ports;
    this.hosts = NAMES.map((name, at) => {
      const address = `127.0.0.${11 + at}`;
      return { name, address, root: path.join(folder, "hosts", address) };
    });
  }

  /** Makes the folders. In the one where commands are run, deploy/ of the package is where npm installs it. */
  static async make(): Promise<Site> {
    const folder = await mkdtemp(path.join(tmpdir(), "binnacle-production-"));
    const [api = 0, client = 0, peer = 0] = await freePorts(3);
    const site = new Site(folder, { api, client, peer });
    for (const host of site.hosts) {
      for (const inner of ["etc/systemd/system", "var/lib/etcd", "var/lib/binnacle"]) {
        await mkdir(path.join(host.root, inner), { recursive: true });
      }
    }
    const deploy = site.file("node_modules", "binnacle", "deploy");
    await mkdir(deploy, { recursive: true });
    for (const name of await readdir(path.join(root, "deploy"))) {
      const text = await readFile(path.join(root, "deploy", name), "utf8");
      await writeFile(path.join(deploy, name), site.localized(text), { mode: 0o755 });
    }
    return site;
  }

  get apiUrl(): string {
    return `https://${this.apiAddress}:${this.ports.api}`;
  }

  /** A host by its name or its address. */
  host(name: string): Host {
    const found = this.hosts.find((host) => host.name === name || host.address === name);
    if (found === undefined) throw new Error(`no host ${name}`);
    return found;
  }

  /** The address of a replica. */
  urlOf(host: Host): string {
    return `https://${host.address}:${this.ports.api}`;
  }

  /** A text of the documentation with our addresses and ports in place of names and the usual ports. */
  localized(text: string): string {
    const named = this.hosts.reduce((before, { name, address }) => before.replaceAll(name, address), text);
    const { api, client, peer } = this.ports;
    return named
      .replaceAll(API, this.apiAddress)
      .replace(/\b6443\b/g, String(api))
      .replace(/\b2379\b/g, String(client))
      .replace(/\b2380\b/g, String(peer));
  }

  /** A text of a host, such as a unit: nothing but its address is listened on, and its paths are those of its folder. */
  localizedOn({ address, root: own }: Host, text: string): string {
    return this.localized(text)
      .replaceAll("0.0.0.0", address)
      .replace(/(?<=[\s=:'"])\/(etc\/binnacle|etc\/systemd|var\/lib)/g, `${own}/$1`);
  }

  /** A file that the administrator has. */
  file(...names: readonly string[]): string {
    return path.join(this.folder, ...names);
  }

  /** The text of such a file. */
  read(...names: readonly string[]): Promise<string> {
    return readFile(this.file(...names), "utf8");
  }

  /** Writes such a file. */
  async write(name: string, text: string): Promise<void> {
    await writeFile(this.file(name), text);
  }

  /** Writes a program that commands find. */
  async writeProgram(name: string, text: string): Promise<void> {
    await mkdir(this.file("bin"), { recursive: true });
    await writeFile(this.file("bin", name), text, { mode: 0o755 });
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
