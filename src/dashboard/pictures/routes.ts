import { counted, shownCount } from '../../amounts/index.js'
import { readContent } from '../../contents/index.js'
import { auditOf } from '../../contract/index.js'
import { ApiError } from '../../errors/index.js'
import { maybe, structOf, table, words } from '../../fields/index.js'
import * as operations from '../../pictures/contract.js'
import {
  addPicture,
  changePicture,
  deletePicture,
  maxPictureBytes,
  type PictureUse,
  requirePicture,
  type SentWithPicture,
  sentWithPicture,
  usesOfPicture,
} from '../../pictures/index.js'
import { file, type PageAnswer, page, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import { pictureIn } from './file.js'
import {
  mostFiles,
  type PicturePageDeps,
  type ShownPicture,
  shownOnPage,
  showPictures,
} from './list.js'

interface OnePictureView {
  base: string
  accountId: string
  id: string
  mayWrite: boolean
  picture: ShownPicture
  uses: (PictureUse & { page: string })[]
  /** Campaigns that are over, whose mails show it. */
  sent: { page: string; name: string; says: string }[]
  /** One of them is on the public page, so it cannot be deleted. */
  isPublic: boolean
  /** What is lost with it. */
  loses: string
  /** What has to be typed to delete it: how many mails show it. */
  typed: string | undefined
  faults: Faults
}

const AltForm = structOf(table({ alt: maybe(operations.alt) }))
const WordsForm = structOf(table({ name: operations.name, alt: maybe(words()) }))
// What a form has around its files.
const aroundBytes = 64 * 1024

/** Pictures for mails: added several at once, named, and deleted when nothing shows them. */
export function picturePages(pages: AccountPages, deps: PicturePageDeps): void {
  const { store } = deps
  const again = (visit: Visit, faults: Faults) => showPictures(deps, visit, faults)
  pages.get('/pictures', 'campaigns.read', (visit) => showPictures(deps, visit))
  const maxBodyBytes = mostFiles * maxPictureBytes + aroundBytes
  const adding = { action: 'campaigns.write', form: AltForm, again, maxBodyBytes } as const
  pages.post('/pictures', adding, async ({ account, base, fields, form }) => {
    const given = fields.files('file').filter(({ bytes }) => bytes.length > 0)
    const isEmpty = fields.files('file').some(({ filename }) => filename !== '')
    if (given.length === 0)
      throw refused(isEmpty ? 'The file is empty: choose another one' : 'Choose a picture')
    if (given.length > mostFiles) throw refused(`Choose at most ${mostFiles} at once`)
    // One that is refused keeps out no other.
    const looked = await Promise.allSettled(given.map(pictureIn))
    const faults = looked.flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : []))
    const strange = faults.find((fault) => !(fault instanceof ApiError))
    if (strange !== undefined || faults.length === given.length) throw strange ?? faults[0]
    const isOne = given.length === 1
    const ids: string[] = []
    for (const one of looked) {
      if (one.status === 'rejected') continue
      // One sentence cannot say what each of several shows.
      const alt = isOne ? form.alt : undefined
      ids.push((await addPicture(deps, account.id, { ...one.value, alt })).id)
    }
    const [first = ''] = ids
    const others = faults.map(({ message }) => message).join('; ')
    return redirect(isOne ? `${base}/pictures/${first}` : `${base}/pictures`, {
      flash: isOne
        ? 'The picture is added'
        : [
            `${counted(ids.length, 'picture is', 'pictures are')} added`,
            ...(others === '' ? [] : [`Not added: ${others}`]),
            ...(form.alt ? ['Your words stand at none of them, as each needs its own'] : []),
            'For people who do not see them, follow “Say what it shows”',
          ].join('. '),
      audit: auditOf(operations.addPicture, { target: first, detail: { pictures: ids.length } }),
    })
  })

  const showOne = (visit: Visit, faults: Faults) => showPicture(deps, visit, faults)
  pages.get('/pictures/:id', 'campaigns.read', (visit) => showOne(visit, noFaults))
  pages.get('/pictures/:id/file', 'campaigns.read', async ({ account, params }) => {
    const {
      content: id,
      sizeBytes,
      contentType,
    } = await requirePicture(store.read, account.id, params.id ?? '')
    return file(readContent(store.read, { id, sizeBytes }), contentType)
  })
  const changing = { action: 'campaigns.write', form: WordsForm, again: showOne } as const
  pages.post('/pictures/:id', changing, async ({ account, base, params, form }) => {
    const { id } = await changePicture(deps, account.id, params.id ?? '', {
      name: form.name,
      alt: form.alt ?? '',
    })
    return redirect(`${base}/pictures/${id}`, {
      flash: 'Saved',
      audit: auditOf(operations.changePicture, { target: id }),
    })
  })
  const DeleteForm = structOf(table({ number: maybe(words()) }))
  const deleting = { action: 'campaigns.write', form: DeleteForm, again: showOne } as const
  pages.post('/pictures/:id/delete', deleting, async ({ account, base, params, form }) => {
    const { publicId } = await requirePicture(store.read, account.id, params.id ?? '')
    const mails = mailsOf(await sentWithPicture(store.read, account.id, publicId))
    if (mails > 0 && (form.number ?? '').replace(/\D/g, '') !== String(mails)) {
      const message = `Type ${shownCount(mails)}, the number of mails that would show it no more`
      throw new ApiError('validation_error', message, { fields: { field: 'number' } })
    }
    const { id, name } = await deletePicture(deps, account.id, params.id ?? '')
    return redirect(`${base}/pictures`, {
      flash: `The picture “${name}” is deleted`,
      audit: auditOf(operations.deletePicture, { target: id, detail: { name } }),
    })
  })
}

async function showPicture(
  { store: { read }, publicUrl }: PicturePageDeps,
  visit: Visit,
  faults: Faults,
): Promise<PageAnswer> {
  const { account, base, params } = visit
  const picture = await requirePicture(read, account.id, params.id ?? '')
  const uses = await usesOfPicture(read, account.id, picture.publicId)
  const sent = await sentWithPicture(read, account.id, picture.publicId)
  const mails = mailsOf(sent)
  const view: OnePictureView = {
    base,
    accountId: account.id,
    id: picture.id,
    mayWrite: visit.may('campaigns.write'),
    picture: shownOnPage(picture, visit, publicUrl),
    uses: uses.map((use) => ({
      ...use,
      page: `${base}/${use.kind === 'campaign' ? 'campaigns' : 'templates'}/${use.id}`,
    })),
    sent: sent.map(({ id, name, mails, isPublic }) => ({
      name,
      page: `${base}/campaigns/${id}`,
      says: `${counted(mails, 'mail')}${isPublic ? ', and your public page' : ''}`,
    })),
    isPublic: sent.some(({ isPublic }) => isPublic),
    loses:
      mails === 0
        ? 'Mails that were sent with it do not show it any more.'
        : `${counted(mails, 'mail')} of ${counted(sent.length, 'campaign')} that ${sent.length === 1 ? 'was' : 'were'} sent with it ${mails === 1 ? 'does' : 'do'} not show it any more, whoever opens them.`,
    typed: mails === 0 ? undefined : shownCount(mails),
    faults,
  }
  return page('pictures/one', view, { title: picture.name })
}

const mailsOf = (sent: readonly SentWithPicture[]) =>
  sent.reduce((sum, { mails }) => sum + mails, 0)

const refused = (message: string) =>
  new ApiError('validation_error', message, { status: 422, fields: { field: 'file' } })
