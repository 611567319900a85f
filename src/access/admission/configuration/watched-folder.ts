import { stat } from "node:fs/promises";
import type { Clock, Timer } from "../../../base/util/clock.ts";
import { filesOf } from "./static-manifests.ts";

/** Polling interval. kube-apiserver uses inotify, and additionally polls once a minute. */
const LOOK_MS = 1000;

/** Options of a WatchedFolder. */
export interface WatchedFolderOptions {
  readonly folder: string;
  readonly clock: Clock;
  /** Loads the folder again. Errors are passed to `failed`; the next attempt is at the next change. */
  readonly changed: () => Promise<void>;
  readonly failed: (error: unknown) => void;
}

/** Polls the manifests of a folder until it is closed, and reports when one of them may have changed. */
export class WatchedFolder {
  readonly #options: WatchedFolderOptions;
  readonly #timer: Timer;
  #seen: string;
  #isLooking = false;

  /** `seen` is the result of `stateOf` from before the folder was first read. */
  constructor(options: WatchedFolderOptions, seen: string) {
    this.#options = options;
    this.#seen = seen;
    this.#timer = options.clock.setInterval(LOOK_MS, () => void this.#look()).unref();
  }

  /** A text that changes when a manifest of the folder changes. */
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
