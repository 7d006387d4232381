import { asRecipientsGet, type Broadcast, htmlOf } from '../../broadcasts/index.js'
import type { CampaignCheck } from './check.js'
import { type RenderedDraft, renderedDraft } from './content-checks.js'
import type { CampaignPageDeps } from './deps.js'

/** What people get of a draft, once for each version. */
export interface SeenContent {
  key: string | undefined
  seen: Broadcast
  html: string
  /** Undefined where it does not render, which is told elsewhere. */
  made: RenderedDraft | undefined
  mend: CampaignCheck['mend']
}

/** The contents of a draft; what says the same as another is made once. */
export async function contentsOf(
  deps: Pick<CampaignPageDeps, 'store' | 'renderer'>,
  draft: Broadcast,
  edit: NonNullable<CampaignCheck['mend']>,
): Promise<SeenContent[]> {
  const { read } = deps.store
  const bodies = new Map<number, string>()
  const contents: SeenContent[] = []
  for (const { key, seen } of await asRecipientsGet(read, draft)) {
    const html = bodies.get(seen.body_id) ?? (await htmlOf(read, seen))
    bodies.set(seen.body_id, html)
    const alike = contents.find((one) => one.html === html && saysSame(one.seen, seen))
    const made = alike?.made ?? (await renderedDraft(deps, seen, html))
    const isOwn = seen.body_id !== draft.body_id
    const mend = isOwn ? { label: 'Write it', href: `${edit.href}/versions/${key}` } : edit
    contents.push({ key, seen, html, made, mend })
  }
  return contents
}

const saysSame = (one: Broadcast, other: Broadcast) =>
  one.subject === other.subject && one.preview_text === other.preview_text

/** Checks of all versions: what is so in each is said once, and else with the letters of those that it is of. */
export function ofVersions(
  versions: readonly { key: string | undefined; checks: readonly CampaignCheck[] }[],
): CampaignCheck[] {
  const found = new Map<string, { check: CampaignCheck; keys: string[] }>()
  for (const { key = '', checks } of versions) {
    for (const check of checks) {
      const { keys } = found.get(check.says) ?? { keys: [] }
      found.set(check.says, { check, keys: [...new Set([...keys, key])] })
    }
  }
  return [...found.values()].map(({ check, keys }) =>
    keys.length === versions.length
      ? check
      : { ...check, says: `Version ${keys.join(' and ')}: ${check.says}` },
  )
}
