import { type AuditedAction, type PageAnswer, page } from '../shell/answer.js'
import type { PageLink } from '../shell/parts.js'
import type { OperatorVisit } from '../shell/visit.js'

/** The link of an invitation or a reset, shown once: no log has it, and it is not made again. */
export function linkPage(
  { request }: Pick<OperatorVisit, 'request'>,
  path: string,
  of: { title: string; says: string; back: PageLink; audit: AuditedAction },
): PageAnswer {
  const { title, says, back, audit } = of
  // The browser says with each form where it found us. Where it does not, the path alone is still useful.
  const origin = request.header('origin') ?? ''
  const view = { title, says, back, link: `${origin === 'null' ? '' : origin}${path}` }
  return page('operator/user-link', view, {
    title,
    headers: { 'Cache-Control': 'no-store' },
    audit,
  })
}
