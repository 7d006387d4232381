/**
 * Templates: stored per account with all their versions, and rendered (Liquid, strict). What must hold: a template is
 * data and may be hostile, as may its variables; it is parsed and rendered only in the render thread, within 100 ms
 * of CPU, and whatever it does there can fail only its own job. liquidjs is loaded by `serveRenders` only.
 */

export { deletedTemplate, shownTemplate, templatesAnswer, versionsAnswer } from './answers.js'
export { isBuiltInTag, stepTags } from './built-in-tags.js'
export { compileBlocks, tryCompile } from './compile.js'
export { asTags, copyTags, isCopyTag, previewed, withoutCopyTags } from './copy-tags.js'
export { type Difference, differences } from './differences.js'
export { withLinkTags } from './encoded-tags.js'
export { type BlockPlace, faultyBlocks } from './faulty-block.js'
export type { Rendered, RenderJob, RenderOutcome, TemplateFault, TemplatePart } from './job.js'
export {
  escapeMerged,
  type MergedContact,
  type MergePiece,
  type MergeTag,
  mergedValue,
  mergeInto,
  mergePieces,
  mergeValues,
  namedValues,
  stranger,
} from './merge-tags.js'
export { type OddTag, oddTags } from './odd-tags.js'
export { inboxWords, previewLiquid, withPreview } from './preview-text.js'
export {
  describeFault,
  faultWords,
  findSyntaxFault,
  type RenderInput,
  readDraft,
  renderTemplate,
  tryRender,
} from './render-template.js'
export { openRenderer, type Renderer } from './renderer.js'
export { keepSamples, maxSamples, type Samples, samplesOf } from './samples.js'
export { changeTemplate, putTemplate, restoreVersion } from './save-template.js'
export { serveRenders } from './serve.js'
export { emptySubject, subjectLine } from './subject-line.js'
export {
  deleteTemplate,
  findTemplate,
  listTemplates,
  listVersions,
  renameTemplate,
  type Template,
  type TemplateDraft,
  type TemplateSummary,
  type TemplateVersion,
  templatesOfBlocks,
} from './template.js'
