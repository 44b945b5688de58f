"use strict";

// What every page builds itself with. What documents say reaches a page as text nodes
// alone: nothing here writes HTML.

const VIEW = JSON.parse(document.getElementById("view").textContent);
const byId = (id) => document.getElementById(id);
const number = (value) => value.toLocaleString("en");
const many = (count, thing) => `${number(count)} ${thing}${count === 1 ? "" : "s"}`;

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false)
      element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== ""));
  return element;
}

function button(text, attributes, act) {
  const element = make("button", { type: "button", ...attributes }, text);
  element.addEventListener("click", act);
  return element;
}
