import type { ResourceContext } from "../context.ts";
import { findAction, type Reservation, type ReservingWrite } from "../model/actions.ts";
import type { ResourceDefinition } from "../model/definition.ts";

/** The outcome of a write, and whether it happened. */
export interface WriteOutcome<T> {
  readonly keeps: boolean;
  readonly outcome: T;
}

/**
 * Runs a write with a reservation, which is committed or released afterwards. `write` calls `sent` right before the
 * store request. If that fails, the write may still have happened, so the reservation is neither committed nor released
 * and left for repair. For the same reason, a failing commit or release never fails a write.
 */
export async function withReservation<T>(
  definition: ResourceDefinition,
  { access, actions }: Pick<ResourceContext, "access" | "actions">,
  reserving: ReservingWrite,
  write: (sent: () => void) => Promise<WriteOutcome<T>>,
): Promise<T> {
  const name = definition.actions?.reserve;
  const reservation = name === undefined ? undefined : await findAction(actions.reserve, name)(reserving, access);
  if (!reservation) return (await write(() => undefined)).outcome;
  let isSent = false;
  try {
    const { keeps, outcome } = await write(() => {
      isSent = true;
    });
    await settle(reservation, keeps);
    return outcome;
  } catch (error) {
    if (!isSent) await settle(reservation, false);
    throw error;
  }
}

async function settle(reservation: Reservation, keeps: boolean): Promise<void> {
  await (keeps ? reservation.commit() : reservation.release()).catch(() => undefined);
}
