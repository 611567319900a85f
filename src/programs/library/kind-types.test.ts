import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { ApplyInput, KindClient, MergePatch, StatusIn } from "./client/client-types.ts";
import type { ConnectedAccess } from "./client/in-process-access.ts";
import type { ReconcileFunction } from "./client/reconcile-types.ts";
import { type Shelves, Widgets } from "./client/widgets.suite.ts";
import type { StoredMeta, UntypedObject } from "./kind-types.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const isEqual = <A, B>(same: Equal<A, B>): void => assert.ok(same);

type Widget = typeof Widgets.Object;
type NewWidget = typeof Widgets.Input;
type Colour = "red" | "blue";
declare const access: ConnectedAccess;
/** Only its type matters. */
const typeOf = <T>(_make: () => T): T => undefined as T;

suite("types of kinds", () => {
  test("an object has its defaults, a name and a resourceVersion", () => {
    isEqual<
      Widget["spec"],
      { colour: Colour; size: number; label?: string; parts?: { name: string; count: number }[] }
    >(true);
    isEqual<Widget["metadata"], StoredMeta>(true);
    isEqual<Widget["status"], { painted?: boolean; note?: string } | undefined>(true);
    isEqual<(typeof Shelves.Object)["status"], undefined>(true);
  });

  test("members with a default are optional in an input, also in lists", () => {
    isEqual<
      NewWidget["spec"],
      {
        readonly colour: Colour;
        readonly size?: number;
        readonly label?: string;
        readonly parts?: readonly { readonly name: string; readonly count?: number }[];
      }
    >(true);
    const made: NewWidget = { metadata: { name: "w" }, spec: { colour: "red", parts: [{ name: "leg" }] } };
    const generated: NewWidget = { metadata: { generateName: "w-" }, spec: { colour: "blue" } };
    const stored = typeOf((): Widget => assert.fail());
    const again: NewWidget = stored;
    assert.ok(made && generated && again === undefined);
  });

  test("an input that the server would reject is an error of the compiler", () => {
    // @ts-expect-error: the colour is required
    const colourless: NewWidget = { metadata: { name: "w" }, spec: {} };
    // @ts-expect-error: there is no such colour
    const green: NewWidget = { metadata: { name: "w" }, spec: { colour: "green" } };
    // @ts-expect-error: there is no such member
    const heavy: NewWidget = { metadata: { name: "w" }, spec: { colour: "red", weight: 3 } };
    // @ts-expect-error: it has no name
    const nameless: NewWidget = { metadata: {}, spec: { colour: "red" } };
    assert.ok(colourless && green && heavy && nameless);
  });

  test("a client has the types of its kind", () => {
    const widgets = typeOf(() => access.client(Widgets));
    isEqual<typeof widgets, KindClient<Widget, NewWidget>>(true);
    const untyped = typeOf(() => access.client({ apiVersion: "v1", kind: "Thing", plural: "things" }));
    isEqual<Awaited<ReturnType<typeof untyped.get>>, UntypedObject>(true);
    isEqual<Parameters<typeof widgets.create>[0], NewWidget>(true);
    isEqual<StatusIn<Widget>, { painted?: boolean; note?: string }>(true);
    isEqual<StatusIn<typeof Shelves.Object>, never>(true);
    const reconcile: ReconcileFunction<Widget> = async ({ spec }) => ({ requeueAfterMs: spec.size });
    assert.ok(reconcile);
  });

  test("a patch may leave out, remove and replace members, an apply may leave out", () => {
    const patches: MergePatch<NewWidget>[] = [
      { spec: { size: 4 } },
      { spec: { label: null } },
      { metadata: { labels: { a: null } } },
      { spec: { parts: [{ name: "leg" }] } },
      // @ts-expect-error: the size is a number
      { spec: { size: "large" } },
      // @ts-expect-error: a list is replaced as a whole
      { spec: { parts: [{}] } },
    ];
    const applied: ApplyInput<NewWidget>[] = [
      { metadata: { name: "w" }, spec: { size: 4 } },
      // @ts-expect-error: an apply removes a member by leaving it out
      { metadata: { name: "w" }, spec: { size: null } },
      // @ts-expect-error: it needs a name
      { metadata: { generateName: "w-" } },
    ];
    assert.ok(patches && applied);
  });
});
