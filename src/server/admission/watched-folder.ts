import { stat } from "node:fs/promises";
import type { Clock, Timer } from "../../lib/clock.ts";
import { filesOf } from "./static-manifests.ts";

/** How often a folder is looked at; kube-apiserver hears of changes by inotify, and looks once a minute besides. */
const LOOK_MS = 1000;

/** What to do with a folder of manifests. */
export interface WatchedFolderOptions {
  readonly folder: string;
  readonly clock: Clock;
  /** Reads the folder again. What it throws is reported, and tried again when something changes. */
  readonly changed: () => Promise<void>;
  readonly failed: (error: unknown) => void;
}

/** Looks at the manifests of a folder again and again until it is closed, and tells when one of them may have changed. */
export class WatchedFolder {
  readonly #options: WatchedFolderOptions;
  readonly #timer: Timer;
  #seen: string;
  #isLooking = false;

  /** `seen` is what `stateOf` said of the folder before it was read first. */
  constructor(options: WatchedFolderOptions, seen: string) {
    this.#options = options;
    this.#seen = seen;
    this.#timer = options.clock.setInterval(LOOK_MS, () => void this.#look()).unref();
  }

  /** What says of a folder whether a manifest has changed. */
  static async stateOf(folder: string): Promise<string> {
    const states: string[] = [];
    for (const file of await filesOf(folder)) {
      const { mtimeMs, ctimeMs, size, ino } = await stat(file);
      states.push([file, mtimeMs, ctimeMs, size, ino].join(" "));
    }
    return states.join("\n");
  }

  close(): void {
    this.#timer.close();
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const { folder, changed, failed } = this.#options;
    try {
      const state = await WatchedFolder.stateOf(folder).catch((error: unknown) => `unreadable: ${error}`);
      if (state === this.#seen) return;
      this.#seen = state;
      await changed();
    } catch (error) {
      failed(error);
    } finally {
      this.#isLooking = false;
    }
  }
}
