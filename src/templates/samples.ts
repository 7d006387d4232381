import { ApiError } from '../errors/index.js'
import { type Read, type Store, storedJson } from '../store/index.js'

/** The text for each variable, by its path, in a preview of the template. */
export type Samples = Readonly<Record<string, string>>

// They are sent with every preview of the template.
const maxSampleBytes = 16 * 1024
/** Nobody fills in more variables than that. */
export const maxSamples = 100

/** The samples of a template; empty where it has none or does not exist. */
export async function samplesOf(read: Read, accountId: string, slug: string): Promise<Samples> {
  const row = await read
    .selectFrom('templates')
    .select('samples')
    .where('account_id', '=', accountId)
    .where('slug', '=', slug)
    .executeTakeFirst()
  const value = storedJson(row?.samples ?? null)
  return typeof value === 'object' && value !== null ? { ...(value as Samples) } : {}
}

/** Keeps the samples with the template, for all versions; no mail uses them. Throws a 422 for too much. */
export async function keepSamples(
  { store }: { store: Store },
  accountId: string,
  slug: string,
  samples: Samples,
): Promise<void> {
  const json = JSON.stringify(samples)
  if (Buffer.byteLength(json) > maxSampleBytes) {
    const message = `The sample values have more than ${maxSampleBytes} bytes together`
    throw new ApiError('validation_error', message, { status: 422 })
  }
  await store.write((tx) =>
    tx
      .updateTable('templates')
      .set({ samples: json })
      .where('account_id', '=', accountId)
      .where('slug', '=', slug)
      .execute(),
  )
}
