// SPDX-License-Identifier: Apache-2.0
// A small text beside the mouse.

export interface Tooltip {
  /** Of what it is about, in the window. */
  x: number;
  y: number;
  title: string;
  text: string;
}

let element: HTMLElement | null = null;

export function showTooltip(tooltip: Tooltip | null): void {
  if (!element) {
    element = document.createElement('div');
    element.className = 'tooltip';
    element.setAttribute('role', 'tooltip');
    document.body.append(element);
  }
  element.hidden = tooltip === null;
  if (!tooltip) return;
  const title = document.createElement('b'), text = document.createElement('p');
  title.textContent = tooltip.title;
  text.textContent = tooltip.text;
  element.replaceChildren(title, text);
  const {width, height} = element.getBoundingClientRect();
  element.style.left = `${Math.max(4, Math.min(tooltip.x + 14, innerWidth - width - 8))}px`;
  element.style.top = `${Math.max(4, tooltip.y + 18 + height > innerHeight ? tooltip.y - height - 10 : tooltip.y + 18)}px`;
}
