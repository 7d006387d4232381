import { isDeepStrictEqual } from 'node:util'
import { checkOpen, readBilling } from '../../billing/index.js'
import { audienceUses } from '../../broadcasts/index.js'
import { auditOf } from '../../contract/index.js'
import { ApiError } from '../../errors/index.js'
import * as operations from '../../segments/contract.js'
import {
  changeSegment,
  createSegment,
  deleteSegment,
  exportSegment,
  requireSegment,
} from '../../segments/index.js'
import { file, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import { refuseStale } from '../shell/stale.js'
import type { Visit } from '../shell/visit.js'
import type { SegmentPageDeps } from './deps.js'
import { markOfSegment, ruleIn, SegmentForm, showEdit } from './edit.js'
import { showSegments } from './list.js'
import { showSegment } from './one.js'
import { changed, sentenceIn } from './sent-rule.js'
import { ruleOfSentence, sentenceOf } from './sentence.js'
import { affectedBy } from './uses.js'
import { useWords } from './words.js'

/** Saved rules about people: written as a sentence, counted, and who is in them. */
export function segmentPages(pages: AccountPages, deps: SegmentPageDeps): void {
  const { read } = deps.store
  pages.get('/segments', 'contacts.read', (visit) => showSegments(deps, visit))
  const known = (visit: Visit<unknown>) =>
    requireSegment(read, visit.account.id, visit.params.id ?? '')
  const again = async (visit: Visit, faults: Faults) => {
    const segment = visit.params.id === undefined ? undefined : await known(visit)
    // What would be typed into a form for a rule that it cannot show is not saved.
    const isShown = segment === undefined || sentenceOf(segment.rule) !== undefined
    const sentence = isShown ? sentenceIn(visit.fields) : undefined
    const name = visit.fields.get('name') ?? ''
    return showEdit(deps, visit, { segment, sentence, name, faults })
  }
  const empty = { mode: 'all' as const, modes: [], parents: [], rows: [] }
  pages.get('/segments/new', 'contacts.write', (visit) =>
    showEdit(deps, visit, {
      sentence: changed(empty, 'add'),
      faults: noFaults,
    }),
  )
  const drafting = { action: 'contacts.write', form: SegmentForm, reads: true, again } as const
  pages.post('/segments/new/draft', drafting, (visit) =>
    showEdit(deps, visit, {
      sentence: changed(sentenceIn(visit.fields), visit.form.do ?? ''),
      name: visit.form.name ?? '',
      faults: noFaults,
      isCounted: true,
    }),
  )
  const writing = { action: 'contacts.write', form: SegmentForm, again } as const
  pages.post('/segments/new', writing, async ({ account, base, form, fields }) => {
    checkOpen(await readBilling(read, deps.plans, account.id))
    const name = nameOf(form.name)
    const { id } = await createSegment(deps, account.id, {
      name,
      rule: await ruleIn(read, account.id, fields),
    })
    return redirect(`${base}/segments/${id}`, {
      flash: `The segment “${name}” is made; its people are looked for`,
      audit: auditOf(operations.createSegment, { target: id }),
    })
  })

  pages.get('/segments/:id', 'contacts.read', (visit) => showSegment(deps, visit, noFaults))
  pages.get('/segments/:id/contacts.csv', 'contacts.read', async ({ account, params }) => {
    const segment = await requireSegment(read, account.id, params.id ?? '')
    const rows = exportSegment(read, account.id, segment.id)
    const audit = { action: 'segment.export', target: segment.id }
    return file(rows, 'text/csv; charset=utf-8', { saveAs: 'segment.csv', audit })
  })
  pages.get('/segments/:id/edit', 'contacts.write', async (visit) =>
    showEdit(deps, visit, { segment: await known(visit), faults: noFaults, isCounted: true }),
  )
  pages.post('/segments/:id/draft', drafting, async (visit) =>
    showEdit(deps, visit, {
      segment: await known(visit),
      sentence: changed(sentenceIn(visit.fields), visit.form.do ?? ''),
      name: visit.form.name ?? '',
      faults: noFaults,
      isCounted: true,
    }),
  )
  pages.post('/segments/:id/edit', writing, async (visit) => {
    const { account, base, form, fields } = visit
    const segment = await known(visit)
    // A rule that the form cannot show is not changed by it, nor one that it was sent back as it was.
    const shown = sentenceOf(segment.rule)
    const sent = ruleOfSentence(sentenceIn(fields))
    const isSame = shown === undefined || isDeepStrictEqual(ruleOfSentence(shown), sent)
    const changes = {
      name: nameOf(form.name),
      rule: isSame ? undefined : await ruleIn(read, account.id, fields),
    }
    await changeSegment(deps, account.id, segment.id, changes, (before) =>
      refuseStale(fields, markOfSegment(before)),
    )
    const affected = isSame ? undefined : useWords(await affectedBy(read, account.id, segment.id))
    return redirect(`${base}/segments/${segment.id}`, {
      flash:
        affected === undefined
          ? 'Saved'
          : `Saved. Its people are looked for anew, and with them change ${affected}`,
      audit: auditOf(operations.changeSegment, { target: segment.id }),
    })
  })
  pages.post(
    '/segments/:id/delete',
    { action: 'contacts.write', again: (visit, faults) => showSegment(deps, visit, faults) },
    async ({ account, base, params }) => {
      const gone = await deleteSegment(
        { ...deps, usesOf: audienceUses },
        account.id,
        params.id ?? '',
      )
      return redirect(`${base}/segments`, {
        flash: `The segment “${gone.name}” is deleted; its people stay`,
        audit: auditOf(operations.deleteSegment, { target: gone.id, detail: { name: gone.name } }),
      })
    },
  )
}

function nameOf(given: string | undefined): string {
  const name = given?.trim() ?? ''
  if (operations.segmentName.struct.is(name)) return name
  const says = 'Write a name of 1 to 100 characters'
  throw new ApiError('validation_error', says, { fields: { field: 'name' } })
}
