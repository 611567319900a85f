import type { Actions } from "../resources/model/actions.ts";
import { builtInActions } from "./all.ts";

/** The actions of built-in kinds on a machine on which no other component runs. */
export const testActions: Actions = builtInActions(async () => ({ isHealthy: false, message: "no component runs" }));
