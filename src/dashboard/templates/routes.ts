import { isDeepStrictEqual } from 'node:util'
import { refuseTemplateInUse, templateUses } from '../../automations/index.js'
import { checkOpen, readBilling } from '../../billing/index.js'
import { auditOf } from '../../contract/index.js'
import { acceptEmail, type EmailDeps } from '../../emails/index.js'
import { ApiError } from '../../errors/index.js'
import { structOf, table, words } from '../../fields/index.js'
import * as operations from '../../templates/contract.js'
import {
  changeTemplate,
  deleteTemplate,
  findTemplate,
  keepSamples,
  putTemplate,
  restoreVersion,
  samplesOf,
} from '../../templates/index.js'
import { blockDeedPages } from '../blocks/deed-pages.js'
import { besideCards } from '../blocks/faulty-card.js'
import { checkedDocument } from '../blocks/form.js'
import { pageWithOpen } from '../blocks/open-cards.js'
import { withPictureWords } from '../blocks/picture-words.js'
import { listed } from '../format.js'
import { frame, redirect } from '../shell/answer.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import { type EditorDeps, showEditor, showNew, typedIn } from './editor.js'
import { showTemplates } from './list.js'
import { filledIn, previewOf } from './preview.js'
import { inTheDark } from './rendered.js'
import { showVersion, showVersions } from './versions.js'
import { templateAgain } from './way-back.js'

// Room for the longest HTML and text: a form may write each byte as three.
const maxBodyBytes = 2 * 1024 * 1024

const { parts, slug } = operations
const NewForm = structOf(table({ slug, ...parts }))
const EditForm = structOf(table({ base: words(), ...parts }))

// Paths below `/templates/-/` are never a template's, as no slug begins with '-'.
/** Templates: the list, the editor with its preview, versions, a test. */
export function templatePages(pages: AccountPages, deps: EditorDeps): void {
  pages.get('/templates', 'templates.read', (visit) => showTemplates(deps, visit))
  newPages(pages, deps)
  editorPages(pages, deps)
  versionPages(pages, deps)
  testPages(pages, deps)
  // A document of its own, because a frame needs an address; within the page the HTML would have our rights
  // (`mime/frame.ts`).
  pages.get('/templates/-/rendered/:id', 'templates.read', async ({ account, params, query }) => {
    const html = await deps.rendered.find(account.id, params.id ?? '')
    if (html === undefined) throw new ApiError('not_found', 'This preview is over: make it again')
    const remotePictures = query.get('pictures') === 'all'
    const { publicUrl } = deps
    return frame(query.has('dark') ? inTheDark(html) : html, { remotePictures, publicUrl })
  })
}

/** Refuses changes by an account that has not paid: it may look and send, but change nothing. */
const open = async ({ store, plans }: EmailDeps, { account }: Visit<unknown>) =>
  checkOpen(await readBilling(store.read, plans, account.id))

function newPages(pages: AccountPages, deps: EditorDeps): void {
  pages.get('/templates/-/new', 'templates.write', (visit) => showNew(deps, visit))
  blockDeedPages(pages, deps, '/templates/-/new', {
    looking: { action: 'templates.write', reads: true, maxBodyBytes },
    show: (visit, faults) => showNew(deps, visit, faults),
  })
  pages.post(
    '/templates/-/new',
    {
      action: 'templates.write',
      form: NewForm,
      maxBodyBytes,
      again: (visit, faults) => showNew(deps, visit, faults),
    },
    async (visit) => {
      await open(deps, visit)
      const { account, base, form } = visit
      const fields = await withPictureWords(deps, account.id, visit.fields)
      const { document } = typedIn(fields)?.draft ?? {}
      const content =
        document === undefined ? {} : { html: undefined, blocks: checkedDocument(document) }
      const saved = await besideCards(() =>
        putTemplate(deps, account.id, { ...form, ...content }, { isNew: true }),
      )
      await keepSamples(deps, account.id, saved.slug, typedIn(fields)?.samples ?? {})
      return redirect(pageWithOpen(`${base}/templates/${saved.slug}`, fields), {
        flash: `${saved.slug} is saved`,
        audit: auditOf(operations.createTemplate, { target: saved.slug }),
      })
    },
  )
}

function editorPages(pages: AccountPages, deps: EditorDeps): void {
  const { read } = deps.store
  pages.get('/templates/:slug', 'templates.read', (visit) => showEditor(deps, visit))
  blockDeedPages(pages, deps, '/templates/:slug', {
    looking: { action: 'templates.read', reads: true, maxBodyBytes },
    show: (visit, faults) => showEditor(deps, visit, faults),
  })
  pages.post(
    '/templates/:slug',
    {
      action: 'templates.write',
      form: EditForm,
      maxBodyBytes,
      again: (visit, faults) => showEditor(deps, visit, faults),
    },
    async (visit) => {
      await open(deps, visit)
      const { account, form, params } = visit
      const fields = await withPictureWords(deps, account.id, visit.fields)
      const { subject, textBody = '' } = form
      const { document } = typedIn(fields)?.draft ?? {}
      const content: Pick<typeof form, 'html' | 'blocks'> =
        document === undefined ? { html: form.html } : { blocks: checkedDocument(document) }
      const before = await findTemplate(read, account.id, params.slug ?? '')
      const { slug } = before
      // Two people may edit at once: whoever saves second is told, and nobody's text is lost.
      if (form.base !== String(before.version)) {
        const message = `Version ${before.version} was saved meanwhile. What you typed is below: look at the versions, and save again if yours is to follow`
        throw new ApiError('conflict', message)
      }
      const samples = typedIn(fields)?.samples ?? {}
      const isSame =
        subject === before.subject &&
        textBody === (before.textBody ?? '') &&
        (content.blocks === undefined
          ? content.html === before.html
          : isDeepStrictEqual(content.blocks, before.blocks))
      if (isSame) {
        await keepSamples(deps, account.id, slug, samples)
        return redirect(templateAgain(visit, slug), {
          flash: 'The sample values are kept; the template is as it was',
          audit: { action: 'template.samples', target: slug },
        })
      }
      const saved = await besideCards(() =>
        changeTemplate(deps, account.id, slug, { subject, textBody, ...content }),
      )
      await keepSamples(deps, account.id, slug, samples)
      const uses = await templateUses(read, account.id, slug)
      const names = uses.map(({ name }) => `"${name}"`)
      const sent = names.length === 0 ? '' : `; ${listed(names, 3)} sends it from now on`
      return redirect(templateAgain(visit, slug), {
        flash: `Saved as version ${saved.version}${sent}`,
        audit: auditOf(operations.updateTemplate, {
          target: slug,
          detail: { version: saved.version },
        }),
      })
    },
  )
  pages.post(
    '/templates/:slug/to-html',
    { action: 'templates.write', again: (visit, faults) => showEditor(deps, visit, faults) },
    async (visit) => {
      await open(deps, visit)
      const { account, params } = visit
      const { slug, html } = await findTemplate(read, account.id, params.slug ?? '')
      const saved = await changeTemplate(deps, account.id, slug, { html })
      return redirect(templateAgain(visit, slug), {
        flash: `Version ${saved.version} is HTML`,
        audit: auditOf(operations.updateTemplate, {
          target: slug,
          detail: { version: saved.version },
        }),
      })
    },
  )
  pages.post(
    '/templates/:slug/delete',
    { action: 'templates.write', again: (visit, faults) => showEditor(deps, visit, faults) },
    async ({ account, base, params }) => {
      const { slug } = await findTemplate(read, account.id, params.slug ?? '')
      // Otherwise a run that comes to such a step later would find nothing to send.
      await refuseTemplateInUse(read, account.id, slug)
      await deleteTemplate(deps, account.id, slug)
      return redirect(`${base}/templates`, {
        flash: `${slug} is deleted`,
        audit: auditOf(operations.deleteTemplate, { target: slug }),
      })
    },
  )
}

function versionPages(pages: AccountPages, deps: EditorDeps): void {
  pages.get('/templates/:slug/versions', 'templates.read', (visit) => showVersions(deps, visit))
  pages.get('/templates/:slug/versions/:version', 'templates.read', (visit) =>
    showVersion(deps, visit),
  )
  pages.post(
    '/templates/:slug/restore',
    { action: 'templates.write', form: structOf(table({ version: words() })) },
    async (visit) => {
      await open(deps, visit)
      const { account, base, form, params } = visit
      // A text that is no number names no version.
      const version = /^\d{1,9}$/.test(form.version) ? Number(form.version) : 0
      const restored = await restoreVersion(deps, account.id, params.slug ?? '', version)
      const { slug } = restored
      return redirect(`${base}/templates/${slug}`, {
        flash: `Version ${version} is restored, as version ${restored.version}`,
        audit: auditOf(operations.restoreTemplateVersion, { target: slug, detail: { version } }),
      })
    },
  )
}

function testPages(pages: AccountPages, deps: EditorDeps): void {
  pages.post(
    '/templates/:slug/test',
    {
      action: 'emails.send',
      form: structOf(table({ from: words() })),
      again: (visit, faults) => showEditor(deps, visit, faults),
    },
    async (visit) => {
      const { account, form, params, person } = visit
      const template = await findTemplate(deps.store.read, account.id, params.slug ?? '')
      const { slug, subject, html, textBody } = template
      // The values that its page shows, also those that nobody has typed.
      const samples = await samplesOf(deps.store.read, account.id, slug)
      const draft = { subject, html, textBody: textBody ?? '' }
      const { variables } = await previewOf(deps, account.id, draft, samples)
      const sent = await acceptEmail(deps, account.id, {
        from: form.from,
        to: person.email,
        template: slug,
        type: 'transactional',
        variables: filledIn(variables),
      })
      return redirect(templateAgain(visit, slug), {
        flash: `The test is on its way to ${person.email}`,
        audit: { action: 'template.test', target: slug, detail: { email: sent.id } },
      })
    },
  )
}
