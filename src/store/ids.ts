import { v7 } from 'uuid'
import type { Clock } from '../clock/index.js'

export interface Ids {
  /** UUIDv7, lower case: sorts by time, so that new rows land at the end of every index. */
  uuid(): string
  /**
   * A delivery's number: milliseconds since 2025 (41 bits), a count (8 bits), the thread's slot
   * (4 bits). Rises, fits a JavaScript number, and is not given twice after a restore from backup.
   */
  serial(): number
}

const epochMs = Date.UTC(2025, 0, 1)
const perMs = 256
const slots = 16

export function makeIds(clock: Clock, slot: number): Ids {
  let last = 0
  return {
    uuid: () => v7({ msecs: clock.now() }),
    serial() {
      // A burst, or a clock that went back, counts on from the last one.
      last = Math.max(last + 1, (clock.now() - epochMs) * perMs)
      return last * slots + slot
    },
  }
}

/** When the delivery of this number was accepted, in milliseconds. */
export const acceptedAt = (serial: number) => Math.floor(serial / (perMs * slots)) + epochMs

/** A number of that time which no delivery ever has: its slot is no thread's. For tests of reports. */
export const nobodysSerial = (ms: number) => firstSerialAt(ms) + slots - 1

/** The first number that a delivery accepted at `ms` can have. */
export const firstSerialAt = (ms: number) => Math.max(0, ms - epochMs) * perMs * slots
