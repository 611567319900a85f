import { createReadStream, createWriteStream } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Clock } from "../../base/util/clock.ts";
import type { LineWriter } from "./log.ts";

/** When a log file is rotated, and which backups are kept. */
export interface RotationOptions {
  readonly file: string;
  /** Maximum size of the file. 0: it is never rotated. */
  readonly maxBytes: number;
  /** Maximum age of backups. 0: no limit. */
  readonly maxAgeDays: number;
  /** Maximum number of backups. 0: no limit. */
  readonly maxBackups: number;
  /** Whether backups are compressed with gzip. */
  readonly compress: boolean;
  readonly clock: Clock;
  /** Receives errors of removing or compressing backups. */
  readonly report: (error: unknown) => void;
}

/** Maximum size of the write queue in bytes. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
const DAY_MS = 86_400_000;

interface Waiting {
  readonly bytes: Buffer;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * A log file that is rotated when it is full. Backups are named like those of lumberjack:
 * audit-2026-01-02T03-04-05.678.log. Files have mode 0600. Lines that arrive during a write are written together
 * afterwards.
 */
export class RotatingFile implements LineWriter {
  readonly #options: RotationOptions;
  #handle: FileHandle;
  #size: number;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #writing: Promise<void> | undefined;
  #tidying: Promise<void> = Promise.resolve();

  private constructor(options: RotationOptions, handle: FileHandle, size: number) {
    this.#options = options;
    this.#handle = handle;
    this.#size = size;
  }

  /** Opens or creates the file and its folder. Rejects on failure. */
  static async open(options: RotationOptions): Promise<RotatingFile> {
    await mkdir(path.dirname(options.file), { recursive: true, mode: 0o700 });
    const handle = await openLog(options.file);
    return new RotatingFile(options, handle, (await handle.stat()).size);
  }

  write(text: string): Promise<void> {
    const bytes = Buffer.from(text);
    const { maxBytes } = this.#options;
    if (maxBytes > 0 && bytes.length > maxBytes) {
      const why = `write length ${bytes.length} exceeds maximum file size ${maxBytes}`;
      return Promise.reject(new Error(why));
    }
    if (this.#waitingBytes + bytes.length > MAX_WAITING_BYTES) {
      return Promise.reject(new Error("audit log write queue is full: the disk is too slow"));
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ bytes, resolve, reject });
    this.#waitingBytes += bytes.length;
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
    return promise;
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#tidying;
    await this.#handle.close();
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#takeFitting();
      try {
        if (batch.length === 0) {
          await this.#rotate();
          continue;
        }
        const bytes = Buffer.concat(batch.map((one) => one.bytes));
        await this.#handle.appendFile(bytes);
        this.#size += bytes.length;
        for (const one of batch) one.resolve();
      } catch (error) {
        // If the rotation failed, all queued writes fail.
        const failed = batch.length > 0 ? batch : this.#waiting.splice(0);
        if (batch.length === 0) this.#waitingBytes = 0;
        for (const one of failed) one.reject(error);
      }
    }
  }

  /** Takes the entries from the head of the queue that fit into the file. Empty if the file must be rotated first. */
  #takeFitting(): Waiting[] {
    const { maxBytes } = this.#options;
    let size = this.#size;
    let count = 0;
    for (const { bytes } of this.#waiting) {
      if (maxBytes > 0 && size + bytes.length > maxBytes) break;
      size += bytes.length;
      count++;
    }
    this.#waitingBytes -= size - this.#size;
    return this.#waiting.splice(0, count);
  }

  async #rotate(): Promise<void> {
    const { file, clock } = this.#options;
    await rename(file, backupName(file, clock.now()));
    const handle = await openLog(file);
    await this.#handle.close();
    this.#handle = handle;
    this.#size = 0;
    this.#tidying = this.#tidying.then(() => this.#tidy()).catch(this.#options.report);
  }

  /** Removes old backups and compresses the others. */
  async #tidy(): Promise<void> {
    const { file, maxAgeDays, maxBackups, compress, clock } = this.#options;
    const folder = path.dirname(file);
    const found = (await readdir(folder)).flatMap((name) => backupOf(file, name) ?? []);
    const newestFirst = found.toSorted((a, b) => b.time - a.time);
    const times = [...new Set(newestFirst.map(({ time }) => time))];
    const kept = new Set(maxBackups > 0 ? times.slice(0, maxBackups) : times);
    const oldest = maxAgeDays > 0 ? clock.now() - maxAgeDays * DAY_MS : Number.NEGATIVE_INFINITY;
    for (const { name, time, isCompressed } of newestFirst) {
      const full = path.join(folder, name);
      if (!kept.has(time) || time < oldest) await rm(full, { force: true });
      else if (compress && !isCompressed) await compressFile(full);
    }
  }
}

function openLog(file: string): Promise<FileHandle> {
  return open(file, "a", 0o600);
}

function backupName(file: string, now: number): string {
  const { dir, name, ext } = path.parse(file);
  const time = new Date(now).toISOString().replace(/:/g, "-").replace("Z", "");
  return path.join(dir, `${name}-${time}${ext}`);
}

/** Parses the name of a backup of `file`. Undefined for other files. */
function backupOf(file: string, name: string): { name: string; time: number; isCompressed: boolean } | undefined {
  const { name: stem, ext } = path.parse(file);
  const isCompressed = name.endsWith(".gz");
  const plain = isCompressed ? name.slice(0, -3) : name;
  if (!plain.startsWith(`${stem}-`) || !plain.endsWith(ext)) return undefined;
  const text = plain.slice(stem.length + 1, plain.length - ext.length);
  const match = /^(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d\.\d{3})$/.exec(text);
  const time = match ? Date.parse(`${match[1]}:${match[2]}:${match[3]}Z`) : Number.NaN;
  return Number.isNaN(time) ? undefined : { name, time, isCompressed };
}

async function compressFile(file: string): Promise<void> {
  await pipeline(createReadStream(file), createGzip(), createWriteStream(`${file}.gz`, { mode: 0o600 }));
  await rm(file);
}
