"""The architectures: their names, their configurations, and what builds them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.architectures import hub, layers

_TOKENS = 128


@dataclass(frozen=True)
class Architecture:
    """One of them.

    Attributes:
        name: What it is called.
        group: The part of the page that it is in.
        about: Its configuration, and in what it is smaller than what was published.
        build: Makes it, of the module ``keras``.
        length: What sizes of inputs are where the model leaves them open; for some inputs another one, by name.
    """

    name: str
    group: str
    about: str
    build: Callable[[Any], Any]
    length: int = 0
    lengths: Mapping[str, int] = field(default_factory=dict[str, int])


def _application(name: str, size: int, title: str = "", about: str = "", **options: Any) -> Architecture:
    def build(keras: Any) -> Any:
        return getattr(keras.applications, name)(weights=None, input_shape=(size, size, 3), **options)

    return Architecture(title or name, "Keras applications", f"{size} by {size}{about}", build)


def _hub(name: str, about: str, build: Callable[[Any], Any], length: int = 0, **lengths: int) -> Architecture:
    return Architecture(
        name, "Keras Hub", about, lambda _: build(importlib.import_module("keras_hub")), length, lengths
    )


def _transformer(name: str, about: str, kind: str, **sizes: Any) -> Architecture:
    return _hub(name, f"{about}; {_TOKENS} tokens", lambda hub: getattr(hub.models, kind)(**sizes), _TOKENS)


def _sizes(layers: int, heads: int, width: int, inner: int, vocabulary: int = 30522) -> dict[str, int]:
    return {
        "vocabulary_size": vocabulary,
        "num_layers": layers,
        "num_heads": heads,
        "hidden_dim": width,
        "intermediate_dim": inner,
    }


def _groups(layers: int, heads: int, groups: int, width: int, inner: int, vocabulary: int) -> dict[str, int]:
    """Of decoders whose heads share keys and values."""
    sizes = _sizes(layers, heads, width, inner, vocabulary)
    return {"num_query_heads": sizes.pop("num_heads"), "num_key_value_heads": groups, **sizes}


def _electra() -> dict[str, int]:
    sizes = _sizes(12, 4, 256, 1024)
    return {"vocab_size": sizes.pop("vocabulary_size"), "embedding_dim": 128, **sizes}


def _fnet() -> dict[str, int]:
    sizes = _sizes(4, 0, 768, 3072, 32000)
    del sizes["num_heads"]
    return sizes


def _of_layers(
    name: str, about: str, shape: tuple[int, ...], make: Callable[[Any, Any], Any], dtype: str = "float32"
) -> Architecture:
    def build(keras: Any) -> Any:
        x = keras.Input(shape, dtype=dtype)
        return keras.Model(x, make(keras.layers, x))

    return Architecture(name, _LAYERS, about, build)


_LAYERS = "Built from Keras layers"

_ALL = (
    _of_layers("LeNet-5", "28 by 28", (28, 28, 1), layers.lenet),
    _of_layers("ResNet-8", "32 by 32, of MLPerf Tiny", (32, 32, 3), layers.small_resnet),
    _of_layers("SqueezeNet 1.1", "224 by 224", (224, 224, 3), layers.squeezenet),
    _of_layers("U-Net", "128 by 128, 32 to 512 filters", (128, 128, 3), layers.unet),
    _of_layers("YOLOv3 tiny", "416 by 416, without the decoding of boxes", (416, 416, 3), layers.yolo),
    _of_layers("ESPCN", "128 by 128, three times as large", (128, 128, 1), layers.super_resolution),
    _of_layers("DCGAN's generator", "64 by 64", (100,), layers.generator),
    _of_layers("DS-CNN", "keyword spotting, of MLPerf Tiny", (49, 10, 1), layers.keyword_spotting),
    _of_layers("Autoencoder", "anomaly detection, of MLPerf Tiny", (640,), layers.anomaly_detection),
    _of_layers("Wake word", "dense layers over 16 embeddings of sound", (16, 96), layers.wake_word),
    _of_layers("WaveNet", "16 dilated layers, 4,000 samples", (4000, 1), layers.wavenet),
    _of_layers("DeepSpeech 2", "3 bidirectional GRUs of 256, 200 frames", (200, 160, 1), layers.speech),
    _of_layers("CRNN", "text in images of 32 by 128, two bidirectional LSTMs", (32, 128, 1), layers.crnn),
    _of_layers("LSTM text classifier", "200 words", (200,), layers.text_lstm, "int32"),
    _of_layers("Bidirectional LSTMs", "two, masked, 100 words", (100,), layers.text_classifier, "int32"),
    _of_layers("TextCNN", "200 words", (200,), layers.text_convolutions, "int32"),
    Architecture("Translation", _LAYERS, "LSTMs of 256 with attention, 40 words", layers.translation),
    Architecture("DeepAR", _LAYERS, "three LSTMs of 40, 168 hours", layers.forecast),
    _of_layers("TCN", "dilated convolutions over 168 hours", (168, 5), layers.temporal_convolutions),
    Architecture("NCF", _LAYERS, "recommendations, 6,040 users and 3,706 films", layers.recommendation),
    _transformer("BERT tiny", "2 layers of 128", "BertBackbone", **_sizes(2, 2, 128, 512)),
    _transformer("BERT small", "4 layers of 512", "BertBackbone", **_sizes(4, 8, 512, 2048)),
    _transformer("DistilBERT", "6 layers of 768", "DistilBertBackbone", **_sizes(6, 12, 768, 3072)),
    _transformer(
        "ALBERT base",
        "12 layers of 768 that share weights",
        "AlbertBackbone",
        embedding_dim=128,
        **_sizes(12, 12, 768, 3072, 30000),
    ),
    _transformer("ELECTRA small", "12 layers of 256", "ElectraBackbone", **_electra()),
    _transformer(
        "RoBERTa, 4 layers", "reduced: 4 of 12 layers of 768", "RobertaBackbone", **_sizes(4, 12, 768, 3072, 50265)
    ),
    _transformer(
        "DeBERTa V3, 4 layers",
        "reduced: 4 of 12 layers of 384, 32,000 of 128,100 words",
        "DebertaV3Backbone",
        **_sizes(4, 6, 384, 1536, 32000),
    ),
    _transformer("FNet, 4 layers", "reduced: 4 of 12 layers of 768", "FNetBackbone", **_fnet()),
    _transformer(
        "GPT-2, 4 layers", "reduced: 4 of 12 layers of 768", "GPT2Backbone", **_sizes(4, 12, 768, 3072, 50257)
    ),
    _transformer(
        "T5 small", "6 and 6 layers of 512", "T5Backbone", use_gated_activation=False, **_sizes(6, 8, 512, 2048, 32128)
    ),
    _transformer(
        "BART, 2 layers", "reduced: 2 and 2 of 6 and 6 layers of 768", "BartBackbone", **_sizes(2, 12, 768, 3072, 50265)
    ),
    _transformer(
        "Gemma, 4 layers",
        "reduced: 4 of 18 layers, 512 wide and not 2048, 32,000 of 256,000 words",
        "GemmaBackbone",
        head_dim=64,
        **_groups(4, 8, 1, 512, 4096, 32000),
    ),
    _transformer(
        "Llama, 4 layers",
        "reduced: 4 of 32 layers, 512 wide and not 4096",
        "LlamaBackbone",
        **_groups(4, 8, 4, 512, 1376, 32000),
    ),
    _hub(
        "Whisper tiny",
        "4 and 4 layers of 384; 3,000 frames, 64 tokens",
        lambda hub: hub.models.WhisperBackbone(**_sizes(4, 6, 384, 1536, 51865)),
        64,
        encoder_features=3000,
    ),
    _hub("ViT tiny", "224 by 224, 12 layers of 192", hub.vision_transformer),
    _hub("Swin tiny", "224 by 224", hub.swin),
    _hub("SegFormer B0", "512 by 512, 150 classes", hub.segformer),
    _hub("DeepLabV3+ on ResNet50", "512 by 512, 21 classes", hub.deeplab),
    _hub("RetinaNet on ResNet50", "512 by 512, 80 classes", hub.retinanet),
    _hub(
        "SAM's image encoder, 4 layers",
        "reduced: 512 by 512 and not 1024 by 1024, 4 of 12 layers, 192 wide and not 768",
        hub.sam_encoder,
    ),
    _application("MobileNet", 224),
    _application("MobileNet", 96, "MobileNet, quarter width", ", of MLPerf Tiny", alpha=0.25, classes=2),
    _application("MobileNetV2", 224),
    _application("MobileNetV3Small", 224),
    _application("MobileNetV3Large", 224),
    _application("NASNetMobile", 224),
    _application("EfficientNetB0", 224),
    _application("EfficientNetB1", 240),
    _application("EfficientNetB3", 300),
    _application("EfficientNetV2B0", 224),
    _application("EfficientNetV2B3", 300),
    _application("DenseNet121", 224),
    _application("ResNet50", 224),
    _application("ResNet101", 224),
    _application("ResNet50V2", 224),
    _application("InceptionV3", 299),
    _application("InceptionResNetV2", 299),
    _application("Xception", 299),
    _application("ConvNeXtTiny", 224),
    _application("VGG16", 224),
)

ARCHITECTURES: Mapping[str, Architecture] = {each.name: each for each in _ALL}
"""All of them, by name."""
