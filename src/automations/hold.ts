import type { UpdateResult } from 'kysely'
import { never } from '../deliveries/index.js'
import { cell, prepared, rowsOf } from '../store/index.js'

/**
 * Holds runs: they are due no more until they are released, and keep when they were. Given as a JSON
 * array of arrays of their ids. An event that comes meanwhile is for after the release.
 */
export const holdLive = prepared<{ json: string; now: number; reason: string }, UpdateResult>(
  (db, { json, now, reason }) =>
    db
      .updateTable('automation_live')
      .from(rowsOf(json))
      .set((eb) => ({
        held_at: now,
        held_reason: reason,
        held_due_at: eb.ref('due_at'),
        due_at: never,
        seq: eb('seq', '+', 1),
        updated_at: now,
      }))
      .where('automation_live.id', '=', cell<string>(0))
      .where('held_at', 'is', null),
)
