import { ApiError } from '../errors/index.js'
import { type Read, type Store, storedJson } from '../store/index.js'

/** By a variable's path the text that stands for it while a template is looked at. */
export type Samples = Readonly<Record<string, string>>

// They go with every look at the template.
const maxSampleBytes = 16 * 1024
/** More variables than that are filled in by nobody. */
export const maxSamples = 100

/** Those of one template; empty for one that has none, or that there is not. */
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

/** Keeps them with the template, whatever its version; no mail is made of them. Throws a 422 for too much. */
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
