import { packageVersion } from '../config/index.js'
import { databaseClock, type Read, type Store, type Tx } from '../store/index.js'

/** How long an appliance that gives no sign of life still holds the database. */
export const leaseMs = 10_000

/** What an appliance knows of its hold. */
export interface Holding {
  name: string
  epoch: number
  /** The last sign of life that the database has acknowledged. */
  beat: number
}

/** Who holds it, and since how long it gave no sign of life. */
export interface OtherNode {
  name: string
  version: string
  silentMs: number
}

/** The appliance of another name or epoch that holds the database at this moment. */
export async function holderOf(read: Read | Tx): Promise<OtherNode | undefined> {
  const row = await read
    .selectFrom('nodes')
    .select(['name', 'version'])
    .select((eb) => eb(eb.ref('held_until'), '-', databaseClock).as('left_ms'))
    .where('held_until', '>', databaseClock)
    .limit(1)
    .executeTakeFirst()
  if (row === undefined) return undefined
  return { name: row.name, version: row.version, silentMs: Math.max(0, leaseMs - row.left_ms) }
}

/**
 * Takes the database for `leaseMs`, to be prolonged by `beat`; undefined while another appliance holds it. One that ended
 * without giving it back holds it until its lease is over, whoever asks: nobody can know that it is dead.
 */
export async function takeDatabase(
  { write }: Pick<Store, 'write'>,
  name: string,
): Promise<Holding | undefined> {
  const version = packageVersion()
  return await write(async (tx) => {
    if ((await holderOf(tx)) !== undefined) return undefined
    const last = await tx
      .selectFrom('nodes')
      .select(({ fn }) => [fn.max('epoch').as('epoch'), fn.max('beat').as('beat')])
      .executeTakeFirst()
    // The beats of all go on in one row of numbers, by which one sees that the database went back.
    const [epoch, beat] = [(last?.epoch ?? 0) + 1, (last?.beat ?? 0) + 1]
    await tx
      .insertInto('nodes')
      .values({ name, epoch, beat, version, held_until: 0 })
      .onConflict((conflict) =>
        conflict.column('name').doUpdateSet({ epoch, beat, version, held_until: 0 }),
      )
      .execute()
    await prolong(tx, { name, epoch, beat })
    return { name, epoch, beat }
  })
}

/** The number of the last sign of life that the database knows, of whomever. */
export async function lastBeatOf(read: Read | Tx): Promise<number> {
  const last = await read
    .selectFrom('nodes')
    .select(({ fn }) => fn.max('beat').as('beat'))
    .executeTakeFirst()
  return last?.beat ?? 0
}

/** A sign of life. Undefined: somebody else has taken the database meanwhile, and this appliance has to end. */
export async function beat(
  { write }: Pick<Store, 'write'>,
  held: Holding,
): Promise<Holding | undefined> {
  return await write(async (tx) => {
    const row = await tx
      .updateTable('nodes')
      .set((eb) => ({ beat: eb('beat', '+', 1) }))
      .where('name', '=', held.name)
      .where('epoch', '=', held.epoch)
      .returning('beat')
      .executeTakeFirst()
    if (row === undefined) return undefined
    await prolong(tx, held)
    return { ...held, beat: row.beat }
  })
}

/** At an orderly end: the next appliance need not wait. */
export async function releaseDatabase(
  { write }: Pick<Store, 'write'>,
  held: Holding,
): Promise<void> {
  await write((tx) =>
    tx
      .updateTable('nodes')
      .set({ held_until: 0 })
      .where('name', '=', held.name)
      .where('epoch', '=', held.epoch)
      .execute(),
  )
}

const prolong = (tx: Tx, { name, epoch }: Holding) =>
  tx
    .updateTable('nodes')
    .set((eb) => ({ held_until: eb(databaseClock, '+', leaseMs) }))
    .where('name', '=', name)
    .where('epoch', '=', epoch)
    .execute()
