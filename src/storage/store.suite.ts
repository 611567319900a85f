import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Store } from "./store.ts";
import { listTests } from "./suite/lists.suite.ts";
import { watchTests } from "./suite/watches.suite.ts";
import { writeTests } from "./suite/writes.suite.ts";

/** A store under test and how to close it. `close` also closes the store if the test did not. */
export interface OpenedStore {
  readonly store: Store;
  close(): Promise<void>;
}

/** Known limits of the store under test. */
export interface SuiteOptions {
  /** Test name → why this store skips it. The reason is shown in the test report. */
  readonly skips?: Readonly<Record<string, string>>;
  /** All opened stores share their data, so the tests run one after the other. */
  readonly isShared?: boolean;
}

let nextPrefix = 0;

/**
 * Declares the tests every store must pass; `open` is called before each. They use only keys under a prefix of their
 * own and assume nothing about the first revision, so all of them may share the data of one store. No other client may
 * write to it meanwhile.
 */
export function describeStore(name: string, open: () => Promise<OpenedStore>, options: SuiteOptions = {}): void {
  const tests = [...writeTests, ...listTests, ...watchTests];
  const titles = new Set(tests.map(([title]) => title));
  for (const title of Object.keys(options.skips ?? {})) assert.ok(titles.has(title), `no test is called "${title}"`);
  describe(name, { concurrency: options.isShared ? 1 : 8 }, () => {
    for (const [title, test] of tests) {
      it(title, { skip: options.skips?.[title] ?? false }, async (t) => {
        const opened = await open();
        t.after(() => opened.close());
        await test(opened.store, `/suite-${process.pid}-${nextPrefix++}/`);
      });
    }
  });
}
