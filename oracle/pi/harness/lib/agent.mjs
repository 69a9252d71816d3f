// The real AgentHarness on files in a folder, with the model that its own library brings for tests, and tools that tell when they begin.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { AgentHarness, BACKGROUND_CONTEXT, JsonlSessionRepo } from '@earendil-works/pi-agent-core'
import { NodeExecutionEnv } from '@earendil-works/pi-agent-core/node'

export const context = BACKGROUND_CONTEXT

/** The library's own copy of the model's, since both must agree on what a provider is. */
const own = ['../node_modules/@earendil-works/pi-ai/dist/index.js', '../../pi-ai/dist/index.js'].map(path => new URL(path, import.meta.resolve('@earendil-works/pi-agent-core')))
const ai = await import(own.find(url => existsSync(fileURLToPath(url))))

export const say = (blocks, more) => ai.fauxAssistantMessage(blocks, more)
export const text = words => ai.fauxText(words)
export const thought = words => ai.fauxThinking(words)
export const call = (name, id, args = {}) => ai.fauxToolCall(name, args, { id })
export const calls = (...blocks) => say(blocks, { stopReason: 'toolUse' })

export const repoIn = folder => new JsonlSessionRepo({ fileSystem: new NodeExecutionEnv({ cwd: folder }), sessionsRoot: folder })

/** { harness, open, faux } on a session. `tools` are { name: execute }, or { name: [execute, more] }. */
export async function harnessOn(session, tools, { model = {}, faux: fauxMore = {}, ...more } = {}) {
  const faux = ai.fauxProvider({ provider: 'faux', models: [{ id: 'faux-1', ...model }], ...fauxMore })
  const models = ai.createModels()
  models.setProvider(faux.provider)
  const parameters = ai.Type.Object({ x: ai.Type.Optional(ai.Type.String()) })
  const list = Object.entries(tools).map(([name, made]) => {
    const [execute, extra] = [made].flat()
    return { name, label: name, description: name, parameters, execute, ...extra }
  })
  const retry = { enabled: true, maxRetries: 2, baseDelayMs: 1 }
  const { harness, open } = await AgentHarness.create({ session, models, model: faux.getModel(), tools: list, systemPrompt: 'Be brief.', retry, ...more }, context)
  return { harness, open, faux }
}
