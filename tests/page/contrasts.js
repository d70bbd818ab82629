// Measure the contrast of every visible text and shape with what is behind it (WCAG 2.2).
() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const parts = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return canvas.getImageData(0, 0, 1, 1).data;
  };
  const luminance = (colour) => {
    const linear = (it) => (it <= 0.04045 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = [...parts(colour)].map((it) => linear(it / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (it) => {
    const colour = getComputedStyle(it).backgroundColor;
    return parts(colour)[3] === 255 || !it.parentElement ? colour : behind(it.parentElement);
  };
  const contrast = (one, other) => {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
  const texts = {};
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const [text, it] = [walk.currentNode.data.trim(), walk.currentNode.parentElement];
    if (!text || it.closest("script, #picture, button:disabled") || !it.getClientRects().length) continue;
    const style = getComputedStyle(it);
    texts[text.slice(0, 40)] = contrast(it.closest("svg.chart") ? style.fill : style.color, behind(it));
  }
  const shapes = {};
  for (const it of document.querySelectorAll(".chart .edge, .sample .edge, .chart .cursor")) {
    shapes[it.getAttribute("class")] = contrast(getComputedStyle(it).stroke, behind(it));
  }
  for (const it of document.querySelectorAll("button:enabled:not(.link), select")) {
    if (!it.getClientRects().length) continue;
    shapes[it.id || it.textContent] = contrast(getComputedStyle(it).borderTopColor, behind(it.parentElement));
  }
  return [texts, shapes];
}
