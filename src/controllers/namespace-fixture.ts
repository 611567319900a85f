import { ApiError } from "../api/api-error.ts";
import { isObject, type KubeObject } from "../api/object.ts";
import { WorkQueue } from "../lib/work-queue.ts";
import type { ServedResource } from "../resources/catalog.ts";
import type { Resources } from "../resources/resources.ts";
import type { Entry, StoreEvent } from "../storage/store.ts";
import type { ReportProblem } from "./controller.ts";
import { type Follower, follow } from "./follow.ts";
import { readObject } from "./stored-kinds.ts";

/** An object that is to be in every active namespace. */
export interface NamespaceFixture {
  /** The controller that sees to it. */
  readonly controller: string;
  /** The resource of core/v1 that it is one of. */
  readonly plural: string;
  /** What it is called in every namespace. */
  readonly objectName: string;
  /** A new one, without its namespace. The caller owns it. */
  make(): KubeObject;
  /** Changes one that differs from what it should be and returns true. Absent: any content will do. */
  repair?(current: KubeObject): boolean;
}

const WORKERS = 5;

/** Keeps the fixture in all active namespaces until the signal aborts. Several may run at the same time without harm. */
export async function keepInNamespaces(
  resources: Resources,
  fixture: NamespaceFixture,
  report: ReportProblem,
  signal: AbortSignal,
): Promise<void> {
  const namespaces = resources.catalog.find("", "v1", "namespaces");
  const objects = resources.catalog.find("", "v1", fixture.plural);
  if (!namespaces || !objects) throw new Error(`no ${fixture.plural} or no namespaces are served`);
  const keeper = new Keeper(resources, fixture, { namespaces, objects });
  const queue = new WorkQueue<string>({
    concurrency: WORKERS,
    work: (namespace) => keeper.ensure(namespace),
    onError: (error) => report(fixture.controller, error),
  });
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const { store, keys } = resources;
  const run = (resource: ServedResource, follower: Follower) =>
    follow(store, keys.prefix(resource.definition), follower, either).finally(() => failed.abort());
  try {
    await Promise.all([
      run(namespaces, { ...watchKeys((key) => queue.add(keys.parse(namespaces.definition, key).name)), ...SKIP_GONE }),
      run(objects, watchObjects(keys.parse.bind(keys, objects.definition), fixture.objectName, queue)),
    ]);
  } finally {
    await queue.close();
  }
}
